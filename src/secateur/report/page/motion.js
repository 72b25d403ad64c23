// Let nodes, branches and the view travel from where they are to where they belong.

const GLIDE = 260; // milliseconds

function motionOf(tree, drawn, view) {
  let frame = 0;

  function place(eased) {
    for (const item of drawn.values()) {
      for (const key of ["x", "y", "o"]) item.now[key] = item.from[key] + (item.to[key] - item.from[key]) * eased;
      item.element.setAttribute("transform", `translate(${item.now.x.toFixed(1)} ${item.now.y.toFixed(1)})`);
      item.element.setAttribute("opacity", item.now.o.toFixed(2));
    }
    for (const [v, item] of drawn) {
      if (!item.link) continue;
      item.link.setAttribute("d", branchPath((drawn.get(tree.parent[v]) || item).now, item.now));
      item.link.setAttribute("opacity", item.now.o.toFixed(2));
    }
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

  return function move(glides) {
    cancelAnimationFrame(frame);
    for (const item of drawn.values()) item.from = { ...item.now };
    const start = performance.now();
    const from = view.now();
    const step = (time) => {
      const t = glides ? Math.min(1, Math.max(0, (time - start) / GLIDE)) : 1;
      place(t * (2 - t));
      if (view.isFit()) view.between(from, view.fitted(), t * (2 - t));
      if (t < 1) frame = requestAnimationFrame(step);
      else sweep();
    };
    if (glides) frame = requestAnimationFrame(step);
    else step(start);
  };
}
