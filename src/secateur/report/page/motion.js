// Move nodes, branches and the view from their present to their new positions.

const GLIDE_MILLISECONDS = 260;

function createMotion(tree, drawn, view) {
  let frame = 0;

  // Draw all items at a share `progress` of their way; `o` is the opacity.
  function moveItems(progress) {
    for (const item of drawn.values()) {
      for (const key of ["x", "y", "o"]) item.now[key] = item.from[key] + (item.to[key] - item.from[key]) * progress;
      item.element.setAttribute("transform", `translate(${item.now.x.toFixed(1)} ${item.now.y.toFixed(1)})`);
      item.element.setAttribute("opacity", item.now.o.toFixed(2));
    }
    for (const [v, item] of drawn) {
      if (!item.link) continue;
      const parent = drawn.get(tree.parent[v]) || item;
      item.link.setAttribute("d", branchPath(parent.now, item.now));
      item.link.setAttribute("opacity", item.now.o.toFixed(2));
    }
  }

  function removeFadedItems() {
    for (const [v, item] of drawn) {
      if (item.to.o > 0) continue;
      item.element.remove();
      item.link?.remove();
      drawn.delete(v);
    }
  }

  return function move(isAnimated) {
    cancelAnimationFrame(frame);
    for (const item of drawn.values()) item.from = { ...item.now };
    const start = performance.now();
    const viewBefore = view.current();
    const step = (time) => {
      const elapsed = isAnimated ? Math.min(1, Math.max(0, (time - start) / GLIDE_MILLISECONDS)) : 1;
      const progress = elapsed * (2 - elapsed); // slows down towards the end
      moveItems(progress);
      if (view.isFitted()) view.showBetween(viewBefore, view.fittedView(), progress);
      if (elapsed < 1) frame = requestAnimationFrame(step);
      else removeFadedItems();
    };
    if (isAnimated) frame = requestAnimationFrame(step);
    else step(start);
  };
}
