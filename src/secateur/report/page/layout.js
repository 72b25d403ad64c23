// Positions of nodes: the root is at the left, and each leaf has a line of its own. A branch bends close to its parent
// and then runs level to its child. Texts are above and below the level part, where no branch crosses them.

const BEND_PIXELS = 30; // the width in which a branch bends
const FONT_PIXELS = 12;
const ROW_PIXELS = [25, 42]; // the least and greatest height of a line
const MARGIN_PIXELS = 8;
const MIN_LEAF_TEXT_PIXELS = 60;
const MAX_SPARE_PIXELS = 90; // for each level

// The line of each drawn node: leaves are one line apart, parents midway between their first and last child.
// The twin of `position` in inspection/view.py.
function assignLines(tree, open) {
  const order = []; // drawn nodes in pre-order
  for (let v = 0; v < tree.n; v = open.has(v) ? v + 1 : tree.end[v]) order.push(v);
  const line = new Map();
  const firstChild = new Map();
  const lastChild = new Map();
  const nLines = order.filter((v) => !open.has(v)).length;
  let nextLine = nLines;
  for (const v of [...order].reverse()) {
    if (open.has(v)) line.set(v, (line.get(firstChild.get(v)) + line.get(lastChild.get(v))) / 2);
    else line.set(v, --nextLine);
    const p = tree.parent[v];
    firstChild.set(p, v);
    if (!lastChild.has(p)) lastChild.set(p, v);
  }
  const depth = order.reduce((deepest, v) => Math.max(deepest, tree.depth[v]), 0);
  return { open, order, line, nLines, depth };
}

// Coordinates of the drawn nodes in a `room` of pixels. Each level is as wide as its texts need, and wider if there is
// room. `minWidth` is the width without spare room.
function placeNodes(tree, lines, nodeDrawing, room) {
  const { order, open, line, nLines, depth } = lines;
  const row = Math.min(ROW_PIXELS[1], Math.max(ROW_PIXELS[0], (room.height - 2 * MARGIN_PIXELS) / nLines));
  const levelWidth = new Array(depth + 1).fill(0);
  let leafText = MIN_LEAF_TEXT_PIXELS;
  for (const v of order) {
    const d = tree.depth[v];
    levelWidth[d] = Math.max(levelWidth[d], nodeDrawing.widthBefore(v, open));
    if (!open.has(v)) leafText = Math.max(leafText, nodeDrawing.widthBehind(v));
  }
  const x = [14 + levelWidth[0]];
  for (let d = 1; d <= depth; d++) x.push(x[d - 1] + BEND_PIXELS + levelWidth[d] + 22);
  const height = 2 * MARGIN_PIXELS + nLines * row;
  const minWidth = x[depth] + leafText;
  let spare = 0;
  if (depth) {
    const usableWidth = room.width * Math.max(1, height / room.height);
    spare = Math.min(MAX_SPARE_PIXELS, Math.max(0, (usableWidth - minWidth - MARGIN_PIXELS) / depth));
  }
  const position = new Map();
  for (const v of order) {
    const d = tree.depth[v];
    position.set(v, { x: x[d] + spare * d, y: MARGIN_PIXELS + (line.get(v) + 0.5) * row });
  }
  return { row, levelWidth, position, width: x[depth] + spare * depth + leafText, height, minWidth };
}

// The SVG path of the branch from point `a` to point `b`.
function branchPath(a, b) {
  const bend = Math.min(BEND_PIXELS, Math.max(4, b.x - a.x));
  const middle = (a.x + bend / 2).toFixed(1);
  const end = (a.x + bend).toFixed(1);
  const [from, to] = [a.y.toFixed(1), b.y.toFixed(1)];
  return `M${a.x.toFixed(1)} ${from}C${middle} ${from} ${middle} ${to} ${end} ${to}H${b.x.toFixed(1)}`;
}
