// The whole drawing in a corner, with the part that is seen; shown when that is not all of it.

function minimapOf(box, tree, drawn, looks, view) {
  const most = { width: 150, height: 110 };
  const map = svg("svg", { id: "minimap", "aria-hidden": "true" });
  const lines = svg("g", {});
  const frame = svg("rect", { class: "frame" });
  map.append(lines, frame);
  box.append(map);
  let k = 1;

  function draw() {
    const { width, height } = view.world();
    k = Math.min(most.width / width, most.height / height);
    map.setAttribute("width", Math.ceil(width * k));
    map.setAttribute("height", Math.ceil(height * k));
    const parts = [];
    for (const [v, { to, link }] of drawn) {
      const a = link && to.o ? drawn.get(tree.parent[v])?.to : null;
      if (!a) continue;
      const middle = ((a.x + BEND) * k).toFixed(1);
      parts.push(svg("path", { d: `M${(a.x * k).toFixed(1)} ${(a.y * k).toFixed(1)}L${middle} ${(to.y * k).toFixed(1)}H${((to.x + 12) * k).toFixed(1)}`, stroke: looks.colour(v) }));
    }
    lines.replaceChildren(...parts);
    follow();
  }

  function follow() {
    const { x, y, k: zoom } = view.now();
    const { width, height } = view.room();
    const world = view.world();
    const seesAll = world.width * zoom <= width + 2 && world.height * zoom <= height + 2 && view.isFit();
    map.classList.toggle("away", seesAll);
    for (const [name, value] of Object.entries({ x: x * k, y: y * k, width: (width / zoom) * k, height: (height / zoom) * k })) {
      frame.setAttribute(name, value.toFixed(1));
    }
  }

  function go(event) {
    if (event.type === "pointermove" && !(event.buttons & 1)) return;
    const { left, top } = map.getBoundingClientRect();
    view.centre((event.clientX - left) / k, (event.clientY - top) / k);
    event.preventDefault();
  }
  map.addEventListener("pointerdown", go);
  map.addEventListener("pointermove", go);
  return { draw, follow };
}
