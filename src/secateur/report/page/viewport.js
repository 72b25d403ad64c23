// The part of the drawing that is seen: fitted to its box, dragged, zoomed about the pointer with the wheel or two fingers.

const ZOOMS = [0.2, 4];

function viewportOf(box, picture) {
  let world = { width: 1, height: 1 };
  let at = { x: 0, y: 0, k: 1 }; // the upper left corner in the drawing, and pixels for each of its units
  let fits = true;
  let changed = () => {};
  // Asking the browser for sizes in the middle of drawing makes it lay out the page each time: they are kept.
  let size = { width: 60, height: 60 };
  const room = () => size;
  const measure = (height = box.clientHeight) => (size = { width: Math.max(60, box.clientWidth - 2), height: Math.max(60, height - 2) });

  // The whole drawing, not larger than life; one that would be too small to read begins at the root.
  function fitted() {
    const { width, height } = room();
    const k = Math.max(0.45, Math.min(1, width / world.width, height / world.height));
    const y = world.root !== undefined && world.height * k > height ? Math.min(world.height - height / k, Math.max(0, world.root - height / k / 2)) : (world.height - height / k) / 2;
    return { x: world.width * k > width ? 0 : (world.width - width / k) / 2, y, k };
  }

  function show(next) {
    const { width, height } = room();
    const inside = (x, seen, all) => Math.min(Math.max(x, -seen * 0.6), all - seen * 0.4);
    at = { k: next.k, x: inside(next.x, width / next.k, world.width), y: inside(next.y, height / next.k, world.height) };
    picture.setAttribute("viewBox", [at.x, at.y, width / at.k, height / at.k].map((z) => z.toFixed(2)).join(" "));
    picture.setAttribute("width", width);
    picture.setAttribute("height", height);
    box.classList.toggle("zoomed", !fits);
    changed();
  }

  function between(from, to, t) {
    show({ x: from.x + (to.x - from.x) * t, y: from.y + (to.y - from.y) * t, k: from.k + (to.k - from.k) * t });
  }

  function zoomAt(px, py, by) {
    const k = Math.min(ZOOMS[1], Math.max(Math.min(ZOOMS[0], fitted().k), at.k * by));
    fits = false;
    show({ k, x: at.x + px / at.k - px / k, y: at.y + py / at.k - py / k });
  }

  function panBy(dx, dy) {
    fits = false;
    show({ ...at, x: at.x - dx / at.k, y: at.y - dy / at.k });
  }

  function fit() {
    measure();
    fits = true;
    show(fitted());
  }

  // Bring a point of the drawing into sight, if it is not.
  function reveal(x, y) {
    const { width, height } = room();
    const isOut = (z, from, seen) => z < from + 0.04 * seen || z > from + 0.92 * seen;
    const [w, h] = [width / at.k, height / at.k];
    const isAway = isOut(x, at.x, w - 60 / at.k) || isOut(y, at.y, h);
    if (!isAway || (fits && world.width * at.k <= width + 1 && world.height * at.k <= height + 1)) return;
    fits = false;
    show({ k: at.k, x: isOut(x, at.x, w - 60 / at.k) ? x - w / 2 : at.x, y: isOut(y, at.y, h) ? y - h / 2 : at.y });
  }

  const local = (event) => {
    const { left, top } = box.getBoundingClientRect();
    return [event.clientX - left, event.clientY - top];
  };

  // Scrolling down at the fitted size scrolls the page: there is nothing further out to see.
  box.addEventListener("wheel", (event) => {
    if (fits && event.deltaY > 0 && !event.ctrlKey) return;
    event.preventDefault();
    const lines = event.deltaMode === 1 ? 16 : 1;
    const by = Math.exp(Math.max(-0.5, Math.min(0.5, -event.deltaY * lines * (event.ctrlKey ? 0.01 : 0.0022))));
    if (by < 1 && at.k * by <= fitted().k) fit();
    else zoomAt(...local(event), by);
  }, { passive: false });

  // One pointer drags, two zoom about the point between them.
  const pointers = new Map();
  let travelled = 0;
  box.addEventListener("pointerdown", (event) => {
    if (event.button > 0 || event.target.closest("#minimap")) return;
    if (!pointers.size) travelled = 0;
    pointers.set(event.pointerId, local(event));
  });
  box.addEventListener("pointermove", (event) => {
    const before = pointers.get(event.pointerId);
    if (!before) return;
    const now = local(event);
    travelled += Math.hypot(now[0] - before[0], now[1] - before[1]);
    if (pointers.size === 1 && travelled < 5) return; // a click that trembles
    if (!box.hasPointerCapture(event.pointerId)) box.setPointerCapture(event.pointerId);
    if (pointers.size === 1) panBy(now[0] - before[0], now[1] - before[1]);
    else {
      const other = [...pointers].find(([id]) => id !== event.pointerId)[1];
      const [was, is] = [before, now].map((p) => Math.max(10, Math.hypot(p[0] - other[0], p[1] - other[1])));
      zoomAt((now[0] + other[0]) / 2, (now[1] + other[1]) / 2, is / was);
      panBy((now[0] - before[0]) / 2, (now[1] - before[1]) / 2);
    }
    pointers.set(event.pointerId, now);
  });
  for (const name of ["pointerup", "pointercancel"]) box.addEventListener(name, (event) => pointers.delete(event.pointerId));
  box.addEventListener("mousedown", (event) => event.preventDefault()); // a drag neither focuses nor marks text; a click does
  box.addEventListener("click", (event) => travelled >= 5 && event.stopPropagation(), true);
  box.addEventListener("dblclick", (event) => !event.target.closest(".node") && zoomAt(...local(event), 1.6));
  window.addEventListener("beforeprint", fit);

  return {
    fit, fitted, between, zoomAt, panBy, reveal, room, measure,
    zoom: (by) => zoomAt(room().width / 2, room().height / 2, by),
    now: () => at,
    isFit: () => fits,
    world: (size) => (size ? (world = size) : world),
    centre: (x, y) => {
      fits = false;
      show({ k: at.k, x: x - room().width / at.k / 2, y: y - room().height / at.k / 2 });
    },
    onChange: (act) => (changed = act),
  };
}
