// Where nodes stand: the root at the left, each leaf on a line of its own. A branch bends right behind its parent
// and runs level to its child; texts stand over and under the level part, where no branch crosses them.

const BEND = 30; // pixels in which branches bend
const TEXT = 12;

// The twin of place in inspection/view.py: leaves one line apart, parents midway between their first and last child.
function linesOf(tree, open) {
  const order = [];
  for (let v = 0; v < tree.n; ) {
    order.push(v);
    v = open.has(v) ? v + 1 : tree.end[v];
  }
  const line = new Map();
  const first = new Map();
  const last = new Map();
  let n = order.filter((v) => !open.has(v)).length;
  const nLines = n;
  for (let i = order.length - 1; i >= 0; i--) {
    const v = order[i];
    line.set(v, open.has(v) ? (line.get(first.get(v)) + line.get(last.get(v))) / 2 : --n);
    const p = tree.parent[v];
    first.set(p, v);
    if (!last.has(p)) last.set(p, v);
  }
  return { open, order, line, nLines, depth: order.reduce((most, v) => Math.max(most, tree.depth[v]), 0) };
}

// Each level is as wide as its texts need, within limits, and wider if there is room.
function placesOf(tree, plan, looks, room) {
  const { order, open, line, nLines, depth } = plan;
  const row = Math.min(42, Math.max(25, (room.height - 16) / nLines));
  const wide = new Array(depth + 1).fill(0);
  let leafText = 60;
  for (const v of order) {
    const d = tree.depth[v];
    wide[d] = Math.max(wide[d], looks.textRoom(v, open));
    if (!open.has(v)) leafText = Math.max(leafText, looks.leafRoom(v));
  }
  const x = [14 + wide[0]];
  for (let d = 1; d <= depth; d++) x.push(x[d - 1] + BEND + wide[d] + 22);
  const height = 16 + nLines * row;
  const spare = depth ? Math.min(90, Math.max(0, (room.width * Math.max(1, height / room.height) - leafText - x[depth] - 8) / depth)) : 0;
  const place = new Map(order.map((v) => [v, { x: x[tree.depth[v]] + spare * tree.depth[v], y: 8 + (line.get(v) + 0.5) * row }]));
  return { row, wide, place, width: x[depth] + spare * depth + leafText, height, least: x[depth] + leafText };
}

function branchPath(a, b) {
  const at = Math.min(BEND, Math.max(4, b.x - a.x));
  const half = (a.x + at / 2).toFixed(1);
  const end = (a.x + at).toFixed(1);
  return `M${a.x.toFixed(1)} ${a.y.toFixed(1)}C${half} ${a.y.toFixed(1)} ${half} ${b.y.toFixed(1)} ${end} ${b.y.toFixed(1)}H${b.x.toFixed(1)}`;
}
