// A small drawing of the whole tree in a corner, with a frame around the visible part; hidden if everything is visible.

const MINIMAP_PIXELS = { width: 150, height: 110 };

function createMinimap(box, tree, drawn, nodeDrawing, view) {
  const map = svg("svg", { id: "minimap", "aria-hidden": "true" });
  const branches = svg("g", {});
  const frame = svg("rect", { class: "frame" });
  map.append(branches, frame);
  box.append(map);
  let scale = 1; // pixels of the map per unit of the drawing

  function draw() {
    const { width, height } = view.world();
    scale = Math.min(MINIMAP_PIXELS.width / width, MINIMAP_PIXELS.height / height);
    map.setAttribute("width", Math.ceil(width * scale));
    map.setAttribute("height", Math.ceil(height * scale));
    const paths = [];
    for (const [v, { to, link }] of drawn) {
      const from = link && to.o ? drawn.get(tree.parent[v])?.to : null;
      if (from) paths.push(svg("path", { d: smallBranch(from, to), stroke: nodeDrawing.colour(v) }));
    }
    branches.replaceChildren(...paths);
    moveFrame();
  }

  function smallBranch(from, to) {
    const pixels = (z) => (z * scale).toFixed(1);
    return `M${pixels(from.x)} ${pixels(from.y)}L${pixels(from.x + BEND_PIXELS)} ${pixels(to.y)}H${pixels(to.x + 12)}`;
  }

  function moveFrame() {
    const { x, y, zoom } = view.current();
    const { width, height } = view.room();
    const world = view.world();
    const seesAll = view.isFitted() && world.width * zoom <= width + 2 && world.height * zoom <= height + 2;
    map.classList.toggle("hidden", seesAll);
    const visible = { x, y, width: width / zoom, height: height / zoom };
    for (const [name, value] of Object.entries(visible)) frame.setAttribute(name, (value * scale).toFixed(1));
  }

  function centreAtPointer(event) {
    if (event.type === "pointermove" && !(event.buttons & 1)) return;
    const { left, top } = map.getBoundingClientRect();
    view.centre((event.clientX - left) / scale, (event.clientY - top) / scale);
    event.preventDefault();
  }
  map.addEventListener("pointerdown", centreAtPointer);
  map.addEventListener("pointermove", centreAtPointer);
  return { draw, moveFrame };
}
