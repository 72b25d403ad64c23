// The visible part of the drawing: fitted to its box, dragged, or zoomed about the pointer with the wheel or two fingers.

const ZOOM_RANGE = [0.2, 4]; // pixels per unit of the drawing
const MIN_FITTED_ZOOM = 0.45; // below it texts are too small to read
const MIN_BOX_PIXELS = 60;
const MAX_CLICK_PIXELS = 5; // a pointer that moves further is dragging
const WHEEL_LINE_PIXELS = 16;

function createViewport(box, picture) {
  let world = { width: 1, height: 1 }; // the size of the whole drawing; `root` is the y of the root
  let view = { x: 0, y: 0, zoom: 1 }; // the upper left corner in the drawing, and pixels per unit
  let isFitted = true;
  let onChange = () => {};
  // The size is kept because reading it from the browser while drawing would force a new layout each time.
  let boxSize = { width: MIN_BOX_PIXELS, height: MIN_BOX_PIXELS };
  const room = () => boxSize;

  function measure(height = box.clientHeight) {
    boxSize = { width: Math.max(MIN_BOX_PIXELS, box.clientWidth - 2), height: Math.max(MIN_BOX_PIXELS, height - 2) };
  }

  // The view of the whole drawing, at most at full size. A drawing that would become too small to read is shown from
  // its left edge, with the root in the middle.
  function fittedView() {
    const { width, height } = room();
    const zoom = Math.max(MIN_FITTED_ZOOM, Math.min(1, width / world.width, height / world.height));
    const seen = { width: width / zoom, height: height / zoom };
    const x = world.width * zoom > width ? 0 : (world.width - seen.width) / 2;
    const isTooHigh = world.root !== undefined && world.height * zoom > height;
    const yAroundRoot = Math.min(world.height - seen.height, Math.max(0, world.root - seen.height / 2));
    return { x, y: isTooHigh ? yAroundRoot : (world.height - seen.height) / 2, zoom };
  }

  function show(next) {
    const { width, height } = room();
    // At least 40 % of the box stays on the drawing.
    const keepInside = (x, seen, all) => Math.min(Math.max(x, -seen * 0.6), all - seen * 0.4);
    view = {
      zoom: next.zoom,
      x: keepInside(next.x, width / next.zoom, world.width),
      y: keepInside(next.y, height / next.zoom, world.height),
    };
    const viewBox = [view.x, view.y, width / view.zoom, height / view.zoom];
    picture.setAttribute("viewBox", viewBox.map((number) => number.toFixed(2)).join(" "));
    picture.setAttribute("width", width);
    picture.setAttribute("height", height);
    box.classList.toggle("zoomed", !isFitted);
    onChange();
  }

  function showBetween(from, to, progress) {
    const between = (key) => from[key] + (to[key] - from[key]) * progress;
    show({ x: between("x"), y: between("y"), zoom: between("zoom") });
  }

  // Zoom by a factor; the point of the drawing at pixel (px, py) of the box stays in place.
  function zoomAt(px, py, factor) {
    const minZoom = Math.min(ZOOM_RANGE[0], fittedView().zoom);
    const zoom = Math.min(ZOOM_RANGE[1], Math.max(minZoom, view.zoom * factor));
    isFitted = false;
    show({ zoom, x: view.x + px / view.zoom - px / zoom, y: view.y + py / view.zoom - py / zoom });
  }

  function panBy(dx, dy) {
    isFitted = false;
    show({ ...view, x: view.x - dx / view.zoom, y: view.y - dy / view.zoom });
  }

  function fit() {
    measure();
    isFitted = true;
    show(fittedView());
  }

  // Move the view so that a point of the drawing is visible, unless it is already.
  function reveal(x, y) {
    const { width, height } = room();
    const [seenWidth, seenHeight] = [width / view.zoom, height / view.zoom];
    const isOutside = (z, from, seen) => z < from + 0.04 * seen || z > from + 0.92 * seen;
    const isOutsideX = isOutside(x, view.x, seenWidth - 60 / view.zoom);
    const isOutsideY = isOutside(y, view.y, seenHeight);
    const seesAll = isFitted && world.width * view.zoom <= width + 1 && world.height * view.zoom <= height + 1;
    if (seesAll || !(isOutsideX || isOutsideY)) return;
    isFitted = false;
    show({ zoom: view.zoom, x: isOutsideX ? x - seenWidth / 2 : view.x, y: isOutsideY ? y - seenHeight / 2 : view.y });
  }

  const positionInBox = (event) => {
    const { left, top } = box.getBoundingClientRect();
    return [event.clientX - left, event.clientY - top];
  };

  // Scrolling down at the fitted size scrolls the page, because there is nothing more to see.
  box.addEventListener("wheel", (event) => {
    if (isFitted && event.deltaY > 0 && !event.ctrlKey) return;
    event.preventDefault();
    const unit = event.deltaMode === 1 ? WHEEL_LINE_PIXELS : 1;
    const speed = event.ctrlKey ? 0.01 : 0.0022;
    const factor = Math.exp(Math.max(-0.5, Math.min(0.5, -event.deltaY * unit * speed)));
    if (factor < 1 && view.zoom * factor <= fittedView().zoom) fit();
    else zoomAt(...positionInBox(event), factor);
  }, { passive: false });

  // One pointer drags; two pointers zoom about the point between them.
  const pointers = new Map();
  let travelledPixels = 0;
  box.addEventListener("pointerdown", (event) => {
    if (event.button > 0 || event.target.closest("#minimap")) return;
    if (!pointers.size) travelledPixels = 0;
    pointers.set(event.pointerId, positionInBox(event));
  });
  box.addEventListener("pointermove", (event) => {
    const before = pointers.get(event.pointerId);
    if (!before) return;
    const now = positionInBox(event);
    travelledPixels += Math.hypot(now[0] - before[0], now[1] - before[1]);
    if (pointers.size === 1 && travelledPixels < MAX_CLICK_PIXELS) return;
    if (!box.hasPointerCapture(event.pointerId)) box.setPointerCapture(event.pointerId);
    if (pointers.size === 1) panBy(now[0] - before[0], now[1] - before[1]);
    else {
      const [, second] = [...pointers].find(([id]) => id !== event.pointerId);
      const distance = (point) => Math.max(10, Math.hypot(point[0] - second[0], point[1] - second[1]));
      zoomAt((now[0] + second[0]) / 2, (now[1] + second[1]) / 2, distance(now) / distance(before));
      panBy((now[0] - before[0]) / 2, (now[1] - before[1]) / 2);
    }
    pointers.set(event.pointerId, now);
  });
  for (const name of ["pointerup", "pointercancel"]) box.addEventListener(name, (event) => pointers.delete(event.pointerId));
  box.addEventListener("mousedown", (event) => event.preventDefault()); // dragging neither moves the focus nor selects text
  box.addEventListener("click", (event) => travelledPixels >= MAX_CLICK_PIXELS && event.stopPropagation(), true);
  box.addEventListener("dblclick", (event) => !event.target.closest(".node") && zoomAt(...positionInBox(event), 1.6));
  window.addEventListener("beforeprint", fit);

  return {
    fit, fittedView, showBetween, zoomAt, panBy, reveal, room, measure,
    zoomBy: (factor) => zoomAt(room().width / 2, room().height / 2, factor),
    current: () => view,
    isFitted: () => isFitted,
    world: () => world,
    setWorld: (size) => (world = size),
    centre: (x, y) => {
      isFitted = false;
      show({ zoom: view.zoom, x: x - room().width / view.zoom / 2, y: y - room().height / view.zoom / 2 });
    },
    setOnChange: (action) => (onChange = action),
  };
}
