// The tree as a picture. Nodes keep their element while they are shown, so that they glide and fade when the tree changes.

function pictureOf(raw, tree, state, words) {
  const picture = $("tree");
  const box = $("scroll");
  const links = svg("g", { class: "links", "aria-hidden": "true" });
  const nodes = svg("g", { class: "nodes", role: "none" });
  picture.append(links, nodes);
  picture.setAttribute("role", "tree");
  picture.setAttribute("aria-label", "The pruned tree");
  picture.setAttribute("aria-describedby", "tree-help");
  const drawn = new Map(); // node -> what is on the page for it
  const calm = window.matchMedia("(prefers-reduced-motion: reduce)");
  const folding = foldingOf(tree, state);
  const looks = looksOf(raw, tree, state, words);
  const view = viewportOf(box, picture);
  const move = motionOf(tree, drawn, view);
  const minimap = minimapOf(box, tree, drawn, looks, view);
  view.onChange(minimap.follow);
  let hits = new Set();
  let lit = new Set();
  let plan = null;
  let picked = () => {};
  let drew = () => {};

  const mostHigh = () => parseFloat(getComputedStyle(box).maxHeight) || 600;

  function planned() {
    const room = { width: view.room().width, height: mostHigh() };
    const trial = (open) => {
      const lines = linesOf(tree, open);
      return { ...lines, ...placesOf(tree, lines, looks, room) };
    };
    const open = folding.unfolded(room.height / 25, (open) => {
      const { least, height } = trial(open);
      return [room.width / least, room.height / height];
    });
    return trial(open);
  }

  function draw({ glide = true } = {}) {
    view.measure();
    plan = planned();
    const { place } = plan;
    view.world({ width: plan.width, height: plan.height, root: place.get(0).y });
    // The box is as high as the drawing needs, within its limit.
    const k = Math.min(1, view.room().width / plan.width);
    const height = Math.round(Math.min(mostHigh(), Math.max(120, plan.height * k + 4)));
    view.measure(height);
    box.style.height = `${height}px`;
    const near = (v, has) => {
      let u = v;
      while (u > 0 && !has(u)) u = tree.parent[u];
      return u;
    };
    for (const [v, item] of drawn) {
      if (place.has(v)) continue;
      item.to = { ...place.get(near(v, (u) => place.has(u))), o: 0 };
      item.element.setAttribute("aria-hidden", "true");
      item.element.removeAttribute("role");
    }
    const old = new Map([...drawn].map(([v, item]) => [v, item.now]));
    for (const v of plan.order) {
      let item = drawn.get(v);
      if (!item) {
        const from = old.get(near(v, (u) => old.has(u))) || place.get(v);
        item = { element: svg("g", { tabindex: "-1", "data-node": v }), link: v ? svg("path", {}) : null, now: { ...from, o: old.size ? 0 : 1 } };
        drawn.set(v, item);
        if (item.link) links.append(item.link);
      }
      item.to = { ...place.get(v), o: 1 };
      item.element.removeAttribute("aria-hidden");
      item.element.setAttribute("role", "treeitem");
      item.element.setAttribute("aria-level", tree.depth[v] + 1);
      if (v) {
        item.element.setAttribute("aria-posinset", tree.childNumber[v] + 1);
        item.element.setAttribute("aria-setsize", tree.arity[tree.parent[v]]);
        looks.dressLink(item.link, v, plan.row);
      }
      looks.dress(item, v, looks.kindOf(v, plan.open), plan);
    }
    // Reading order is pre-order: elements are put in place without moving those that are right already.
    let before = null;
    for (const v of [...drawn.keys()].sort((a, b) => b - a)) {
      const element = drawn.get(v).element;
      if (element.nextSibling !== before || element.parentNode !== nodes) nodes.insertBefore(element, before);
      before = element;
    }
    mark();
    drew();
    minimap.draw();
    move(glide && !calm.matches && old.size > 0);
    if (!view.isFit()) reveal(state.selected);
  }

  // Selection, the way to it, what was searched for, and the path of a row.
  function mark() {
    const way = new Set();
    for (let u = state.selected; u >= 0; u = tree.parent[u]) way.add(u);
    const focusable = drawn.get(state.selected)?.to.o ? state.selected : 0;
    for (const [v, item] of drawn) {
      item.element.classList.toggle("selected", v === state.selected);
      item.element.classList.toggle("found", hits.has(v));
      item.element.classList.toggle("dim", (hits.size > 0 && !hits.has(v)) || (lit.size > 0 && !lit.has(v)));
      item.element.classList.toggle("lit", lit.has(v));
      item.link?.classList.toggle("way", way.has(v));
      item.link?.classList.toggle("lit", lit.has(v));
      item.element.setAttribute("tabindex", v === focusable ? "0" : "-1");
      if (item.to.o) item.element.setAttribute("aria-selected", v === state.selected);
    }
  }

  function select(v, { focus = false, reveal: comes = focus } = {}) {
    if (!plan.place.has(v)) {
      folding.openTo(v);
      draw();
    }
    const isNew = state.selected !== v;
    state.selected = v;
    mark();
    if (isNew) picked();
    const element = drawn.get(v)?.element;
    if (focus && element && document.activeElement !== element) element.focus({ preventScroll: true });
    if (comes) reveal(v);
  }

  function reveal(v) {
    const item = drawn.get(v);
    if (item) view.reveal(item.to.x, item.to.y);
  }

  function unfold(v) {
    folding.openBranch(v);
    draw();
  }

  function find(text) {
    const query = text.trim().toLowerCase();
    const all = [];
    if (query) for (let v = 0; v < tree.n; v++) if (state.kept[v] && words.columnOf(v).toLowerCase().includes(query)) all.push(v);
    hits = new Set(all);
    mark();
    return all;
  }

  // Light up the path of a row; none takes the light away.
  function light(path) {
    lit = new Set(path);
    mark();
  }

  function refine(by) {
    folding.refine(by);
    draw();
  }

  const nFolded = () => state.numbers.leaves.length - plan.order.filter((v) => !state.kept[v]).length;

  state.listeners.push(() => draw());
  let wide = box.clientWidth;
  new ResizeObserver(() => {
    if (box.clientWidth === wide) return;
    wide = box.clientWidth;
    draw({ glide: false });
  }).observe(box);
  draw({ glide: false });
  const self = {
    select, find, light, refine, nFolded, draw, unfold, reveal, view, plan: () => plan,
    picked: () => picked(), elementOf: (v) => drawn.get(v)?.element,
    onSelect: (act) => (picked = act), onDraw: (act) => (drew = act),
  };
  handsOf(tree, state, picture, self);
  return self;
}
