// Clicks and keys on the nodes of the tree.

const ZOOM_FACTORS = { "+": 1.25, "=": 1.25, "-": 1 / 1.25 };

function connectKeyboard(tree, state, element, picture) {
  const nodeAt = (target) => {
    const group = target.closest?.("[data-node]");
    return group && group.getAttribute("role") ? Number(group.getAttribute("data-node")) : null;
  };
  const isFolded = (v) => state.kept[v] && !picture.plan().open.has(v);

  element.addEventListener("click", (event) => {
    const v = nodeAt(event.target);
    if (v === null) return;
    if (isFolded(v)) picture.unfold(v);
    picture.select(v, { focus: true, reveal: false });
  });
  element.addEventListener("focusin", (event) => {
    const v = nodeAt(event.target);
    if (v !== null) picture.select(v);
  });

  // The drawn node `offset` places after v on the same level.
  function sameLevel(v, offset) {
    const level = picture.plan().order.filter((u) => tree.depth[u] === tree.depth[v]);
    return level[level.indexOf(v) + offset];
  }

  function goToFirstChild(v) {
    if (isFolded(v)) picture.unfold(v);
    else if (picture.plan().open.has(v)) return v + 1;
    return undefined;
  }

  // For each key that moves the focus: the node to go to, or undefined.
  const moves = {
    ArrowRight: goToFirstChild,
    ArrowLeft: (v) => (v > 0 ? tree.parent[v] : undefined),
    ArrowDown: (v) => sameLevel(v, 1),
    ArrowUp: (v) => sameLevel(v, -1),
    Home: () => 0,
    End: () => picture.plan().order.at(-1),
  };

  function openAndShow(v) {
    if (isFolded(v)) picture.unfold(v);
    picture.notifySelected();
  }

  const actions = {
    Enter: openAndShow,
    " ": openAndShow,
    Delete: (v) => state.snip(v),
    Backspace: (v) => state.snip(v),
    Insert: (v) => state.restore(v),
    0: () => picture.view.fit(),
  };

  element.addEventListener("keydown", (event) => {
    const v = nodeAt(event.target);
    if (v === null || event.ctrlKey || event.metaKey || event.altKey) return;
    let next;
    if (moves[event.key]) next = moves[event.key](v);
    else if (actions[event.key]) actions[event.key](v);
    else if (ZOOM_FACTORS[event.key]) picture.view.zoomBy(ZOOM_FACTORS[event.key]);
    else return;
    event.preventDefault();
    if (next !== undefined) picture.select(next, { focus: true });
    else picture.elementOf(v)?.focus({ preventScroll: true });
  });
}
