// The drawing of the tree. The SVG element of a node exists as long as the node is drawn, so that nodes can glide and fade
// when the tree changes.

const DEFAULT_MAX_HEIGHT_PIXELS = 600;
const LINE_PIXELS = 25;

function createPicture(raw, tree, state, words) {
  const element = $("tree");
  const box = $("scroll");
  const links = svg("g", { class: "links", "aria-hidden": "true" });
  const nodes = svg("g", { class: "nodes", role: "none" });
  element.append(links, nodes);
  element.setAttribute("role", "tree");
  element.setAttribute("aria-label", "The pruned tree");
  element.setAttribute("aria-describedby", "tree-help");
  // By node number, for each drawn node: its element, the link from its parent, its present position and opacity (`now`),
  // and its position and opacity at the end of the motion (`to`). The opacity is `o`.
  const drawn = new Map();
  const reducedMotion = window.matchMedia("(prefers-reduced-motion: reduce)");
  const folding = createFolding(tree, state);
  const nodeDrawing = createNodeDrawing(raw, tree, state, words);
  const view = createViewport(box, element);
  const move = createMotion(tree, drawn, view);
  const minimap = createMinimap(box, tree, drawn, nodeDrawing, view);
  view.setOnChange(minimap.moveFrame);
  let searchHits = new Set();
  let rowPath = new Set();
  let plan = null;
  let onSelect = () => {};
  let onDraw = () => {};

  const maxHeight = () => parseFloat(getComputedStyle(box).maxHeight) || DEFAULT_MAX_HEIGHT_PIXELS;

  // Return the nodes to draw and their positions, so that the drawing fits the box if possible.
  function makePlan() {
    const room = { width: view.room().width, height: maxHeight() };
    const layOut = (open) => {
      const lines = assignLines(tree, open);
      return { ...lines, ...placeNodes(tree, lines, nodeDrawing, room) };
    };
    const open = folding.openNodes(room.height / LINE_PIXELS, (open) => {
      const { minWidth, height } = layOut(open);
      return [room.width / minWidth, room.height / height];
    });
    return layOut(open);
  }

  function draw({ glide = true } = {}) {
    view.measure();
    plan = makePlan();
    view.setWorld({ width: plan.width, height: plan.height, root: plan.position.get(0).y });
    fitBoxHeight();
    const before = new Map([...drawn].map(([v, item]) => [v, item.now]));
    fadeOutMissingNodes();
    for (const v of plan.order) {
      if (!drawn.has(v)) addItem(v, before);
      updateItem(v);
    }
    sortElements();
    mark();
    onDraw();
    minimap.draw();
    move(glide && !reducedMotion.matches && before.size > 0);
    if (!view.isFitted()) reveal(state.selected);
  }

  // Make the box as high as the drawing, within its limit.
  function fitBoxHeight() {
    const scale = Math.min(1, view.room().width / plan.width);
    const height = Math.round(Math.min(maxHeight(), Math.max(120, plan.height * scale + 4)));
    view.measure(height);
    box.style.height = `${height}px`;
  }

  // Return node v if it is a key of the map, otherwise its nearest ancestor that is.
  function nearestIn(map, v) {
    let u = v;
    while (u > 0 && !map.has(u)) u = tree.parent[u];
    return u;
  }

  // Let nodes that are not in the plan move to their nearest ancestor in the plan and fade.
  function fadeOutMissingNodes() {
    for (const [v, item] of drawn) {
      if (plan.position.has(v)) continue;
      item.to = { ...plan.position.get(nearestIn(plan.position, v)), o: 0 };
      item.element.setAttribute("aria-hidden", "true");
      item.element.removeAttribute("role");
    }
  }

  // Add a node to the drawing. It starts at the position of its nearest ancestor that was drawn before.
  function addItem(v, before) {
    const start = before.get(nearestIn(before, v)) || plan.position.get(v);
    const item = {
      element: svg("g", { tabindex: "-1", "data-node": v }),
      link: v ? svg("path", {}) : null,
      now: { ...start, o: before.size ? 0 : 1 },
    };
    drawn.set(v, item);
    if (item.link) links.append(item.link);
  }

  function updateItem(v) {
    const item = drawn.get(v);
    item.to = { ...plan.position.get(v), o: 1 };
    item.element.removeAttribute("aria-hidden");
    item.element.setAttribute("role", "treeitem");
    item.element.setAttribute("aria-level", tree.depth[v] + 1);
    if (v) {
      item.element.setAttribute("aria-posinset", tree.childNumber[v] + 1);
      item.element.setAttribute("aria-setsize", tree.arity[tree.parent[v]]);
      nodeDrawing.updateLink(item.link, v, plan.row);
    }
    nodeDrawing.updateNode(item, v, nodeDrawing.kindOf(v, plan.open), plan);
  }

  // Put the elements into pre-order, because screen readers read them in document order. Only misplaced ones are moved.
  function sortElements() {
    let next = null;
    for (const v of [...drawn.keys()].sort((a, b) => b - a)) {
      const node = drawn.get(v).element;
      if (node.nextSibling !== next || node.parentNode !== nodes) nodes.insertBefore(node, next);
      next = node;
    }
  }

  // Set the classes for the selection, the path to it, the hits of a search, and the path of a row.
  function mark() {
    const pathToSelected = new Set();
    for (let u = state.selected; u >= 0; u = tree.parent[u]) pathToSelected.add(u);
    const focusable = drawn.get(state.selected)?.to.o ? state.selected : 0;
    for (const [v, item] of drawn) {
      const isDimmed = (searchHits.size > 0 && !searchHits.has(v)) || (rowPath.size > 0 && !rowPath.has(v));
      item.element.classList.toggle("selected", v === state.selected);
      item.element.classList.toggle("found", searchHits.has(v));
      item.element.classList.toggle("dim", isDimmed);
      item.element.classList.toggle("on-row-path", rowPath.has(v));
      item.link?.classList.toggle("to-selected", pathToSelected.has(v));
      item.link?.classList.toggle("on-row-path", rowPath.has(v));
      item.element.setAttribute("tabindex", v === focusable ? "0" : "-1");
      if (item.to.o) item.element.setAttribute("aria-selected", v === state.selected);
    }
  }

  // Select a node; draw the branches above it if they are folded.
  function select(v, { focus = false, reveal: isRevealed = focus } = {}) {
    if (!plan.position.has(v)) {
      folding.openTo(v);
      draw();
    }
    const isNew = state.selected !== v;
    state.selected = v;
    mark();
    if (isNew) onSelect();
    const node = drawn.get(v)?.element;
    if (focus && node && document.activeElement !== node) node.focus({ preventScroll: true });
    if (isRevealed) reveal(v);
  }

  function reveal(v) {
    const item = drawn.get(v);
    if (item) view.reveal(item.to.x, item.to.y);
  }

  function unfold(v) {
    folding.openBranch(v);
    draw();
  }

  // Mark and return the tests whose column name contains the text.
  function find(text) {
    const query = text.trim().toLowerCase();
    const hits = [];
    for (let v = 0; query && v < tree.n; v++) {
      if (state.kept[v] && words.columnName(v).toLowerCase().includes(query)) hits.push(v);
    }
    searchHits = new Set(hits);
    mark();
    return hits;
  }

  // Highlight the path of a row; an empty path removes the highlight.
  function highlightRowPath(path) {
    rowPath = new Set(path);
    mark();
  }

  function changeDetail(factor) {
    folding.changeDetail(factor);
    draw();
  }

  // Colour the nodes by a function of the node, or by their predictions again (null).
  let colouring = null;
  function colourBy(newColouring) {
    if (newColouring === colouring) return;
    colouring = newColouring;
    nodeDrawing.colourBy(colouring);
    draw({ glide: false });
  }

  const nFolded = () => state.numbers.leaves.length - plan.order.filter((v) => !state.kept[v]).length;

  state.listeners.push(() => draw());
  let boxWidth = box.clientWidth;
  new ResizeObserver(() => {
    if (box.clientWidth === boxWidth) return;
    boxWidth = box.clientWidth;
    draw({ glide: false });
  }).observe(box);
  draw({ glide: false });
  const picture = {
    select, find, highlightRowPath, changeDetail, colourBy, nFolded, draw, unfold, reveal, view, plan: () => plan,
    notifySelected: () => onSelect(), elementOf: (v) => drawn.get(v)?.element,
    setOnSelect: (action) => (onSelect = action), setOnDraw: (action) => (onDraw = action),
  };
  connectKeyboard(tree, state, element, picture);
  return picture;
}
