// Small pictures: curves and points over two axes, and bars in a list.

function xyPlot({ title, x, y, lines = [], points = [], diagonal = false, most = [1, 1], least = [0, 0], text = (value) => figure(value) }) {
  const size = { width: 340, height: 260, left: 52, right: 12, top: 10, bottom: 40 };
  const px = (value) => size.left + ((value - least[0]) / (most[0] - least[0] || 1)) * (size.width - size.left - size.right);
  const py = (value) => size.height - size.bottom - ((value - least[1]) / (most[1] - least[1] || 1)) * (size.height - size.top - size.bottom);
  const parts = [];
  for (const share of [0, 0.25, 0.5, 0.75, 1]) {
    const [vx, vy] = [0, 1].map((i) => least[i] + share * (most[i] - least[i]));
    parts.push(
      svg("line", { class: "grid", x1: size.left, x2: size.width - size.right, y1: py(vy), y2: py(vy) }),
      svg("text", { class: "tick", x: size.left - 5, y: py(vy) + 4, "text-anchor": "end" }, text(vy)),
      svg("text", { class: "tick", x: px(vx), y: size.height - size.bottom + 15, "text-anchor": share === 0 ? "start" : share === 1 ? "end" : "middle" }, text(vx)),
    );
  }
  parts.push(svg("text", { class: "tick", x: (size.left + size.width) / 2, y: size.height - 6, "text-anchor": "middle" }, x),
    svg("text", { class: "tick", x: 11, y: size.height / 2 - 14, "text-anchor": "middle", transform: `rotate(-90 11 ${size.height / 2 - 14})` }, y));
  if (diagonal) parts.push(svg("line", { class: "mark", x1: px(least[0]), y1: py(least[0]), x2: px(most[0]), y2: py(most[0]) }));
  for (const line of lines) parts.push(svg("polyline", { class: `curve ${line.key}`, points: line.points.map(([a, b]) => `${px(a).toFixed(1)},${py(b).toFixed(1)}`).join(" ") }));
  for (const { at, low, high, r = 3, colour, told } of points) {
    const [cx, cy] = [px(at[0]).toFixed(1), py(at[1]).toFixed(1)];
    if (low !== undefined) parts.push(svg("line", { x1: cx, x2: cx, y1: py(low).toFixed(1), y2: py(high).toFixed(1), stroke: colour, "stroke-opacity": 0.55 }));
    parts.push(svg("circle", { class: "leaf-dot", cx, cy, r, fill: colour }, svg("title", {}, told)));
  }
  return svg("svg", { class: "plot", viewBox: `0 0 ${size.width} ${size.height}`, role: "img", "aria-label": title }, ...parts);
}

// Rows of [name, share of the longest, text, colour, action].
function barList(rows) {
  return html("table", { class: "bar-list" }, html("tbody", {}, ...rows.map(([name, share, text, colour = "var(--accent)", act]) => html("tr", {},
    html("th", { scope: "row" }, act ? button(name, act, { class: "plain" }) : html("bdi", {}, name)),
    html("td", { class: "bar-cell" }, svg("svg", { viewBox: "0 0 100 10", preserveAspectRatio: "none", width: "100%", height: 10, "aria-hidden": "true" }, svg("rect", { width: Math.max(0.5, 100 * share), height: 10, fill: colour }))),
    html("td", {}, text)))));
}
