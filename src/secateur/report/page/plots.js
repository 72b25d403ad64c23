// Small plots: curves and points over two axes, and a list of bars.

const PLOT = { width: 340, height: 260, left: 52, right: 12, top: 10, bottom: 40 }; // pixels

// A plot of `lines` ({ key, points }) and `points` ({ at, low, high, r, colour, title }). `min` and `max` are the ends of
// the axes as [x, y]; `tickText` formats their numbers, `tickTextY` those of the second axis.
function xyPlot({ title, x, y, lines = [], points = [], hasDiagonal = false, min = [0, 0], max = [1, 1], tickText = (value) => formatMeasure(value), tickTextY = tickText }) {
  const plotWidth = PLOT.width - PLOT.left - PLOT.right;
  const plotHeight = PLOT.height - PLOT.top - PLOT.bottom;
  const px = (value) => PLOT.left + ((value - min[0]) / (max[0] - min[0] || 1)) * plotWidth;
  const py = (value) => PLOT.height - PLOT.bottom - ((value - min[1]) / (max[1] - min[1] || 1)) * plotHeight;
  const parts = [0, 0.25, 0.5, 0.75, 1].flatMap((share) => {
    const [tickX, tickY] = [0, 1].map((axis) => min[axis] + share * (max[axis] - min[axis]));
    const anchor = { 0: "start", 1: "end" }[share] || "middle";
    return [
      svg("line", { class: "grid", x1: PLOT.left, x2: PLOT.width - PLOT.right, y1: py(tickY), y2: py(tickY) }),
      svg("text", { class: "tick", x: PLOT.left - 5, y: py(tickY) + 4, "text-anchor": "end" }, tickTextY(tickY)),
      svg("text", { class: "tick", x: px(tickX), y: PLOT.height - PLOT.bottom + 15, "text-anchor": anchor }, tickText(tickX)),
    ];
  });
  const labelY = PLOT.height / 2 - 14;
  parts.push(
    svg("text", { class: "tick", x: (PLOT.left + PLOT.width) / 2, y: PLOT.height - 6, "text-anchor": "middle" }, x),
    svg("text", { class: "tick", x: 11, y: labelY, "text-anchor": "middle", transform: `rotate(-90 11 ${labelY})` }, y),
  );
  if (hasDiagonal) parts.push(svg("line", { class: "mark", x1: px(min[0]), y1: py(min[1]), x2: px(max[0]), y2: py(max[1]) }));
  for (const line of lines) {
    const corners = line.points.map(([a, b]) => `${px(a).toFixed(1)},${py(b).toFixed(1)}`).join(" ");
    parts.push(svg("polyline", { class: `curve ${line.key}`, points: corners }));
  }
  for (const { at, low, high, r = 3, colour, title: pointTitle } of points) {
    const [cx, cy] = [px(at[0]).toFixed(1), py(at[1]).toFixed(1)];
    if (low !== undefined) {
      const ends = { x1: cx, x2: cx, y1: py(low).toFixed(1), y2: py(high).toFixed(1) };
      parts.push(svg("line", { ...ends, stroke: colour, "stroke-opacity": 0.55 }));
    }
    parts.push(svg("circle", { class: "leaf-dot", cx, cy, r, fill: colour }, svg("title", {}, pointTitle)));
  }
  return svg("svg", { class: "plot", viewBox: `0 0 ${PLOT.width} ${PLOT.height}`, role: "img", "aria-label": title }, ...parts);
}

// A table with one bar per row. `share` is the length of the bar; `action`, if any, makes the name a button.
function barList(bars) {
  return html("table", { class: "bar-list" }, html("tbody", {}, ...bars.map(barRow)));
}

function barRow({ name, share, text, colour = "var(--accent)", action }) {
  const bar = svg("rect", { width: Math.max(0.5, 100 * share), height: 10, fill: colour });
  const picture = svg("svg", { viewBox: "0 0 100 10", preserveAspectRatio: "none", width: "100%", height: 10, "aria-hidden": "true" }, bar);
  return html("tr", {},
    html("th", { scope: "row" }, action ? button(name, action, { class: "plain" }) : html("bdi", {}, name)),
    html("td", { class: "bar-cell" }, picture),
    html("td", {}, text));
}
