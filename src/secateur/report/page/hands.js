// Clicks and keys on the tree.

function handsOf(tree, state, element, picture) {
  const nodeAt = (target) => {
    const found = target.closest?.("[data-node]");
    return found && found.getAttribute("role") ? Number(found.getAttribute("data-node")) : null;
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

  // The next node on the same level; siblings come first as they are nearest.
  function beside(v, by) {
    const level = picture.plan().order.filter((u) => tree.depth[u] === tree.depth[v]);
    return level[level.indexOf(v) + by];
  }

  const zooms = { "+": 1.25, "=": 1.25, "-": 1 / 1.25 };
  element.addEventListener("keydown", (event) => {
    const v = nodeAt(event.target);
    if (v === null || event.ctrlKey || event.metaKey || event.altKey) return;
    const { open, order } = picture.plan();
    let next;
    if (event.key === "ArrowRight") {
      if (isFolded(v)) picture.unfold(v);
      else if (open.has(v)) next = v + 1;
    } else if (event.key === "ArrowLeft") next = v > 0 ? tree.parent[v] : undefined;
    else if (event.key === "ArrowDown") next = beside(v, 1);
    else if (event.key === "ArrowUp") next = beside(v, -1);
    else if (event.key === "Home") next = 0;
    else if (event.key === "End") next = order[order.length - 1];
    else if (event.key === "Enter" || event.key === " ") {
      if (isFolded(v)) picture.unfold(v);
      picture.picked();
    } else if (event.key === "Delete" || event.key === "Backspace") state.snip(v);
    else if (event.key === "Insert") state.restore(v);
    else if (zooms[event.key]) picture.view.zoom(zooms[event.key]);
    else if (event.key === "0") picture.view.fit();
    else return;
    event.preventDefault();
    if (next !== undefined) picture.select(next, { focus: true });
    else picture.elementOf(v)?.focus({ preventScroll: true });
  });
}
