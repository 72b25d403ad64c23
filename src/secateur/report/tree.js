// The tree as a picture: the root at the left, each leaf on a line of its own.
// Only branches with many rows are drawn at first; "+n leaves" opens a smaller one. Nodes keep
// their element while they are shown, so that they glide and fade when the tree changes.

const ALL_DRAWN = 40; // leaves up to which a tree is drawn whole
const MOST_LINES = [16, 40]; // lines of a larger one at first: as many as can be seen, within these
const MOST_OPENED = 12; // tests unfolded when a branch is opened
const GLIDE = 260; // milliseconds

function pictureOf(raw, tree, state, words) {
  const picture = $("tree");
  const links = svg("g", { class: "links", "aria-hidden": "true" });
  const nodes = svg("g", { class: "nodes", role: "none" });
  picture.append(links, nodes);
  picture.setAttribute("role", "tree");
  picture.setAttribute("aria-label", "The pruned tree");
  picture.setAttribute("aria-describedby", "tree-help");
  const rows = tree.samples[0].total;
  const drawn = new Map(); // node -> what is on the page for it
  const calm = window.matchMedia("(prefers-reduced-motion: reduce)");
  let zoom = 1;
  let detail = 1;
  let hits = new Set();
  let frame = 0;
  let spec = null;
  let plan = null;
  let picked = () => {};
  let drew = () => {};

  // Which kept nodes show their children: those with most rows, and those opened by hand. The
  // levels are limited too, or one long branch would take all the room.
  function unfolded() {
    const open = new Set();
    const isSmall = state.numbers.leaves.length <= ALL_DRAWN && detail >= 1;
    const most = isSmall ? Infinity : linesSeen() * detail;
    const levels = isSmall ? Infinity : Math.max(1, 5 * Math.sqrt(detail));
    let lines = 1;
    for (const v of tree.byRows) {
      if (lines >= most) break;
      if (!state.kept[v] || tree.depth[v] >= levels || !(v === 0 || open.has(tree.parent[v]))) continue;
      open.add(v);
      lines += tree.arity[v] - 1;
    }
    for (const v of [...state.opened].sort((a, b) => a - b)) {
      if (state.kept[v] && (v === 0 || open.has(tree.parent[v]))) open.add(v);
    }
    return open;
  }

  const heightSeen = () => (parseFloat(getComputedStyle($("scroll")).maxHeight) || 600) - 30;
  const linesSeen = () => Math.min(MOST_LINES[1], Math.max(MOST_LINES[0], Math.floor(heightSeen() / 20)));

  // The twin of _plain in layout.py: leaves one line apart, parents midway between their first and last child.
  function layout() {
    const open = unfolded();
    const order = [];
    for (let v = 0; v < tree.n; ) {
      order.push(v);
      v = open.has(v) ? v + 1 : tree.end[v];
    }
    const line = new Map();
    const first = new Map();
    const last = new Map();
    let n = order.filter((v) => !open.has(v)).length;
    const nLines = n;
    for (let i = order.length - 1; i >= 0; i--) {
      const v = order[i];
      line.set(v, open.has(v) ? (line.get(first.get(v)) + line.get(last.get(v))) / 2 : --n);
      const p = tree.parent[v];
      first.set(p, v);
      if (!last.has(p)) last.set(p, v);
    }
    const depth = Math.max(...order.map((v) => tree.depth[v]));
    return { open, order, line, nLines, depth };
  }

  // Each level is as wide as its texts need, within limits, and wider if there is room.
  function measures({ order, open, nLines, depth }) {
    const space = ($("scroll").clientWidth || 800) - 4;
    const row = Math.min(40, Math.max(20, heightSeen() / nLines)) * zoom;
    const size = Math.max(7, Math.min(12, row * 0.55));
    const edges = new Array(depth + 1).fill(0);
    const names = new Array(depth + 1).fill(0);
    let leafText = 120;
    for (const v of order) {
      const d = tree.depth[v];
      edges[d] = Math.max(edges[d], Math.min(96, textWidth(words.branchShort(v), size)));
      if (open.has(v)) names[d] = Math.max(names[d], Math.min(116, textWidth(nameOf(v), size) * 1.12));
      else if (!state.kept[v]) leafText = Math.max(leafText, 52 + Math.min(130, textWidth(words.answer(v), size)) + textWidth(restOf(v), size) + 16);
    }
    const left = [18];
    for (let d = 1; d <= depth; d++) left.push(left[d - 1] + Math.max(44 * zoom, names[d - 1] + edges[d] + 18));
    const stretch = depth ? Math.min(1.6, Math.max(1, (space - leafText - left[0]) / (left[depth] - left[0]))) : 1;
    return { row, size, leafText, top: 24, edges, names, x: left.map((x) => left[0] + (x - left[0]) * stretch) };
  }

  const nameOf = (v) => words.columnShort(v) || `node ${v}`;
  const textWidth = (text, size) => Array.from(text).length * size * 0.56;

  function restOf(v) {
    if (raw.kind === "numbers") return number(rows[v]);
    return `${number(rows[v])} · ${rows[v] ? percent(tree.samples[0].cost[v] / rows[v]) : "empty"}`;
  }

  const colour = (v) => (raw.kind === "classes" ? classColour(tree.labels[v]) : rampColour(valueShare(v)));

  const means = raw.kind === "numbers" ? tree.samples[0].mean : null;
  const lowest = means ? means.reduce((a, b) => Math.min(a, b)) : 0;
  const highest = means ? means.reduce((a, b) => Math.max(a, b)) : 1;
  function valueShare(v) {
    return highest > lowest ? (means[v] - lowest) / (highest - lowest) : 0.5;
  }

  function purity(v) {
    if (!rows[v]) return 0;
    if (raw.kind === "numbers") {
      const whole = tree.samples[0].cost[0] / (rows[0] || 1);
      return whole > 0 ? Math.max(0, 1 - tree.samples[0].cost[v] / rows[v] / whole) : 1;
    }
    const k = Math.max(raw.classes.length, 2);
    return Math.max(0, (1 - tree.samples[0].cost[v] / rows[v] - 1 / k) / (1 - 1 / k));
  }

  function kindOf(v, open) {
    if (open.has(v)) return "test";
    if (state.kept[v]) return "folded";
    return tree.arity[v] > 0 ? "cut" : "leaf";
  }

  function nLeavesBelow(v) {
    let n = 0;
    for (let u = v; u < tree.end[v]; ) {
      if (state.kept[u]) u += 1;
      else {
        n += 1;
        u = tree.end[u];
      }
    }
    return n;
  }

  // What a screen reader says of a node, and what hovering shows.
  function told(v, kind) {
    const sample = tree.samples[0];
    const size = count(rows[v], "row");
    const start = `Node ${v}: ${words.branchText(v)}.`;
    if (kind === "test") return `${start} Tests ${words.columnOf(v) || "something"}. ${size}.`;
    const error = raw.kind === "classes" ? `, error ${percent(sample.cost[v] / (rows[v] || 1))}` : "";
    if (kind === "folded") return `${start} Branch of ${count(nLeavesBelow(v), "leaf", "leaves")}, not unfolded. ${size}.`;
    const cut = kind === "cut" ? ` Cut: ${count(tree.nLeaves[v], "leaf", "leaves")} went.` : "";
    return `${start} Leaf: ${words.answer(v)}. ${size}${error}.${cut}`;
  }

  function dress(item, v, kind) {
    const { row, size, leafText } = spec;
    const d = tree.depth[v];
    const look = [kind, row, spec.edges[d], spec.names[d], leafText, kind === "folded" ? nLeavesBelow(v) : 0].join();
    if (item.look === look) return;
    item.look = look;
    const g = item.element;
    g.setAttribute("class", `node ${kind}`);
    if (kind === "test") g.setAttribute("aria-expanded", "true");
    else if (kind === "folded") g.setAttribute("aria-expanded", "false");
    else g.removeAttribute("aria-expanded");
    const parts = [];
    const hitWidth = kind === "test" ? 24 : leafText - 20;
    parts.push(svg("rect", { class: "hit", x: -12, y: -row / 2, width: hitWidth + 12, height: row, rx: 6 }));
    if (v > 0) {
      const edge = clipped(words.branchShort(v), spec.edges[d] + 1, size);
      parts.push(svg("text", { class: "edge", x: kind === "cut" ? -13 : -9, y: -5, "text-anchor": "end", "font-size": size }, edge));
    }
    if (kind === "test") {
      parts.push(svg("circle", { class: "disc", r: 6, fill: colour(v) }));
      const name = clipped(nameOf(v), spec.names[d] / 1.12 + 1, size);
      parts.push(svg("text", { class: "column", x: v ? -4 : -10, y: -9, "font-size": size }, name));
    } else if (kind === "folded") {
      const text = `+${count(nLeavesBelow(v), "leaf", "leaves")}`;
      parts.push(
        svg("rect", { class: "pill", x: -4, y: -row * 0.4, width: text.length * size * 0.58 + 14, height: row * 0.8, rx: row * 0.4, stroke: colour(v) }),
        svg("text", { class: "more", x: 3, y: size * 0.36, "font-size": size }, text),
      );
    } else {
      parts.push(...leafParts(v, kind, size, row, leafText));
    }
    // The picture of a node is for the eye; its title, which is its name, says the same in words.
    g.replaceChildren(svg("title", {}, told(v, kind)), svg("g", { "aria-hidden": "true" }, ...parts));
  }

  function leafParts(v, kind, size, row, leafText) {
    const parts = [];
    const wide = 40;
    const high = Math.min(12, row * 0.5);
    const sample = tree.samples[0];
    parts.push(svg("rect", { class: "trough", x: -1, y: -high / 2, width: wide, height: high }));
    if (raw.kind === "classes" && rows[v]) {
      const k = raw.classes.length;
      const order = [tree.labels[v], ...Array.from({ length: k }, (_, c) => c).filter((c) => c !== tree.labels[v])];
      let x = -1;
      for (const c of order) {
        const w = (sample.counts[v * k + c] / rows[v]) * wide;
        if (w > 0) parts.push(svg("rect", { x: x.toFixed(2), y: -high / 2, width: w.toFixed(2), height: high, fill: classColour(c) }));
        x += w;
      }
    } else if (raw.kind === "numbers") {
      parts.push(svg("rect", { x: -1, y: -high / 2, width: Math.max(2, valueShare(v) * wide), height: high, fill: colour(v) }));
    }
    if (kind === "cut") parts.push(svg("path", { class: "cutmark", d: `M-6 ${-high / 2 - 3}L-2 ${high / 2 + 3}M-10 ${-high / 2 - 3}L-6 ${high / 2 + 3}` }));
    const rest = restOf(v);
    const room = Math.min(131, leafText);
    const label = svg("text", { class: "answer", x: wide + 5, y: size * 0.36, "font-size": size });
    label.append(svg("tspan", { class: "name" }, clipped(words.answer(v), room, size)), svg("tspan", { class: "rest", dx: 6 }, rest));
    parts.push(label);
    return parts;
  }

  function draw({ glide = true } = {}) {
    plan = layout();
    spec = measures(plan);
    const width = spec.x[plan.depth] + spec.leafText;
    const height = spec.top + plan.nLines * spec.row;
    picture.setAttribute("width", Math.round(width));
    picture.setAttribute("height", Math.round(height));
    picture.setAttribute("viewBox", `0 0 ${Math.round(width)} ${Math.round(height)}`);
    const places = new Map(plan.order.map((v) => [v, {
      x: spec.x[tree.depth[v]],
      y: spec.top + (plan.line.get(v) + 0.5) * spec.row - 4,
    }]));
    const near = (v, has) => {
      let u = v;
      while (u > 0 && !has(u)) u = tree.parent[u];
      return u;
    };
    for (const [v, item] of drawn) {
      if (places.has(v)) continue;
      item.to = { ...places.get(near(v, (u) => places.has(u))), o: 0 };
      item.element.setAttribute("aria-hidden", "true");
      item.element.removeAttribute("role");
    }
    const old = new Map([...drawn].map(([v, item]) => [v, item.now]));
    for (const v of plan.order) {
      let item = drawn.get(v);
      if (!item) {
        const from = old.get(near(v, (u) => old.has(u))) || places.get(v);
        item = { element: svg("g", { tabindex: "-1", "data-node": v }), link: v ? svg("path", {}) : null, now: { ...from, o: old.size ? 0 : 1 } };
        drawn.set(v, item);
        if (item.link) links.append(item.link);
      }
      item.to = { ...places.get(v), o: 1 };
      item.element.removeAttribute("aria-hidden");
      item.element.setAttribute("role", "treeitem");
      item.element.setAttribute("aria-level", tree.depth[v] + 1);
      if (v) {
        item.element.setAttribute("aria-posinset", tree.childNumber[v] + 1);
        item.element.setAttribute("aria-setsize", tree.arity[tree.parent[v]]);
        item.link.setAttribute("class", "link");
        item.link.setAttribute("stroke", colour(v));
        item.link.setAttribute("stroke-width", Math.max(1.2, (rows[v] / (rows[0] || 1)) * Math.min(26, spec.row)).toFixed(2));
        item.link.setAttribute("stroke-opacity", (0.34 + 0.56 * purity(v)).toFixed(2));
      }
      dress(item, v, kindOf(v, plan.open));
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
    reveal(state.selected);
    move(glide && !calm.matches && old.size > 0);
  }

  // Let everything travel from where it is to where it belongs.
  function move(glides) {
    cancelAnimationFrame(frame);
    for (const item of drawn.values()) item.from = { ...item.now };
    const start = performance.now();
    const step = (time) => {
      const t = glides ? Math.min(1, Math.max(0, (time - start) / GLIDE)) : 1;
      const eased = t * (2 - t);
      for (const item of drawn.values()) {
        for (const key of ["x", "y", "o"]) item.now[key] = item.from[key] + (item.to[key] - item.from[key]) * eased;
        item.element.setAttribute("transform", `translate(${item.now.x.toFixed(1)} ${item.now.y.toFixed(1)})`);
        item.element.setAttribute("opacity", item.now.o.toFixed(2));
      }
      for (const [v, item] of drawn) {
        if (!item.link) continue;
        const a = (drawn.get(tree.parent[v]) || item).now;
        const b = item.now;
        const bend = Math.max(12, (b.x - a.x) * 0.5);
        item.link.setAttribute("d", `M${a.x.toFixed(1)} ${a.y.toFixed(1)}C${(a.x + bend).toFixed(1)} ${a.y.toFixed(1)} ${(b.x - bend).toFixed(1)} ${b.y.toFixed(1)} ${b.x.toFixed(1)} ${b.y.toFixed(1)}`);
        item.link.setAttribute("opacity", item.now.o.toFixed(2));
      }
      if (t < 1) frame = requestAnimationFrame(step);
      else sweep();
    };
    if (glides) frame = requestAnimationFrame(step);
    else step(start);
  }

  // Remove what has faded out.
  function sweep() {
    for (const [v, item] of drawn) {
      if (item.to.o > 0) continue;
      item.element.remove();
      item.link?.remove();
      drawn.delete(v);
    }
  }

  // Selection, the way to it, and what was searched for.
  function mark() {
    const way = new Set();
    for (let u = state.selected; u >= 0; u = tree.parent[u]) way.add(u);
    const focusable = drawn.get(state.selected)?.to.o ? state.selected : 0;
    for (const [v, item] of drawn) {
      item.element.classList.toggle("selected", v === state.selected);
      item.element.classList.toggle("found", hits.has(v));
      item.element.classList.toggle("dim", hits.size > 0 && !hits.has(v));
      item.link?.classList.toggle("way", way.has(v));
      item.element.setAttribute("tabindex", v === focusable ? "0" : "-1");
      if (item.to.o) item.element.setAttribute("aria-selected", v === state.selected);
    }
  }

  function select(v, { focus = false, reveal: comes = focus } = {}) {
    unfoldTo(v);
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
    const view = $("scroll");
    if (!item) return;
    const { x, y } = item.to;
    if (x < view.scrollLeft + 20 || x > view.scrollLeft + view.clientWidth - 120) view.scrollLeft = x - view.clientWidth / 2;
    if (y < view.scrollTop + 30 || y > view.scrollTop + view.clientHeight - 30) view.scrollTop = y - view.clientHeight / 2;
  }

  function unfoldTo(v) {
    if (plan.line.has(v)) return;
    for (let u = tree.parent[v]; u >= 0; u = tree.parent[u]) state.opened.add(u);
    draw();
  }

  function unfold(v) {
    state.opened.add(v);
    let n = 0;
    for (const u of tree.byRows) {
      if (n >= MOST_OPENED) break;
      if (u > v && u < tree.end[v] && state.kept[u] && state.opened.has(tree.parent[u])) {
        state.opened.add(u);
        n += 1;
      }
    }
    draw();
  }

  const nodeAt = (target) => {
    const element = target.closest?.("[data-node]");
    return element && element.getAttribute("role") ? Number(element.getAttribute("data-node")) : null;
  };

  picture.addEventListener("click", (event) => {
    const v = nodeAt(event.target);
    if (v === null) return;
    if (state.kept[v] && !plan.open.has(v)) unfold(v);
    select(v, { focus: true });
  });
  picture.addEventListener("focusin", (event) => {
    const v = nodeAt(event.target);
    if (v !== null) select(v);
  });

  // The next node on the same level; siblings come first as they are nearest.
  function beside(v, by) {
    const level = plan.order.filter((u) => tree.depth[u] === tree.depth[v]);
    return level[level.indexOf(v) + by];
  }

  picture.addEventListener("keydown", (event) => {
    const v = nodeAt(event.target);
    if (v === null || event.ctrlKey || event.metaKey || event.altKey) return;
    const { open, order } = plan;
    let next;
    if (event.key === "ArrowRight") {
      if (state.kept[v] && !open.has(v)) unfold(v);
      else if (open.has(v)) next = v + 1;
    } else if (event.key === "ArrowLeft") next = v > 0 ? tree.parent[v] : undefined;
    else if (event.key === "ArrowDown") next = beside(v, 1);
    else if (event.key === "ArrowUp") next = beside(v, -1);
    else if (event.key === "Home") next = 0;
    else if (event.key === "End") next = order[order.length - 1];
    else if (event.key === "Enter" || event.key === " ") {
      if (state.kept[v] && !open.has(v)) unfold(v);
      picked();
    } else if (event.key === "Delete" || event.key === "Backspace") state.snip(v);
    else if (event.key === "Insert") state.restore(v);
    else return;
    event.preventDefault();
    if (next !== undefined) select(next, { focus: true });
    else drawn.get(v)?.element.focus({ preventScroll: true });
  });

  function find(text) {
    const query = text.trim().toLowerCase();
    const all = [];
    if (query) for (let v = 0; v < tree.n; v++) if (state.kept[v] && words.columnOf(v).toLowerCase().includes(query)) all.push(v);
    hits = new Set(all);
    mark();
    return all;
  }

  function resize(by) {
    zoom = Math.min(2.5, Math.max(0.5, zoom * by));
    draw({ glide: false });
  }

  // Unfold or fold by half as much again and again; folding also takes back what was opened by hand.
  function refine(by) {
    detail = Math.min(64, Math.max(0.25, detail * by));
    if (by < 1) state.opened.clear();
    draw();
  }

  const nFolded = () => state.numbers.leaves.length - plan.order.filter((v) => !state.kept[v]).length;

  state.listeners.push(() => draw());
  let wide = $("scroll").clientWidth;
  new ResizeObserver(() => {
    if ($("scroll").clientWidth === wide) return;
    wide = $("scroll").clientWidth;
    draw({ glide: false });
  }).observe($("scroll"));
  draw({ glide: false });
  return { select, find, resize, refine, nFolded, draw, plan: () => plan, onSelect: (act) => (picked = act), onDraw: (act) => (drew = act) };
}
