// The shown tree as files: a drawing, rules, SQL, JSON.

const MAX_STEM_LETTERS = 60;
const MAX_IMAGE_PIXELS = 8000;
const MAX_IMAGE_SCALE = 3;
const REVOKE_DELAY_MILLISECONDS = 10000;
const STYLE_PROPERTIES = [
  "fill", "fill-opacity", "stroke", "stroke-width", "stroke-opacity", "stroke-dasharray", "font-size", "font-weight",
  "font-family", "paint-order", "opacity",
];

function createDownloads(raw, tree, state, words, picture) {
  const title = raw.title.normalize("NFKD").replace(/[^A-Za-z0-9]+/g, "-").replace(/^-+|-+$/g, "");
  const stem = (title || "tree").slice(0, MAX_STEM_LETTERS);

  const save = (ending, content, type) => saveFile(`${stem}${ending}`, content, type);

  async function savePng() {
    const image = new Image();
    image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(drawingAsFile(picture))}`;
    await image.decode();
    const scale = Math.min(MAX_IMAGE_SCALE, MAX_IMAGE_PIXELS / Math.max(image.width, image.height));
    const canvas = html("canvas", { width: Math.ceil(image.width * scale), height: Math.ceil(image.height * scale) });
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
    canvas.toBlob((blob) => save(".png", blob));
  }

  const rulesAsText = () => `${state.numbers.leaves.map(words.ruleText).join("\n")}\n`;
  const treeAsText = () => `${JSON.stringify(treeAsJson(raw, tree, state, words), null, 1)}\n`;
  return [
    ["SVG", () => save(".svg", drawingAsFile(picture), "image/svg+xml")],
    ["PNG", savePng],
    ["Rules", () => save("-rules.txt", rulesAsText(), "text/plain")],
    ["SQL", () => save(".sql", sqlOf(raw, tree, state), "text/plain")],
    ["JSON", () => save(".json", treeAsText(), "application/json")],
  ];
}

// Offer a text or a Blob as a download.
function saveFile(name, content, type) {
  const address = URL.createObjectURL(content instanceof Blob ? content : new Blob([content], { type }));
  const link = html("a", { href: address, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), REVOKE_DELAY_MILLISECONDS);
}

// The whole drawing as an SVG file. The style sheet of the page is not part of the file, so the computed styles are
// written into the elements.
function drawingAsFile(picture) {
  const { width, height } = picture.view.world();
  const original = $("tree");
  const copy = original.cloneNode(true);
  const originals = [...original.querySelectorAll("*")];
  [...copy.querySelectorAll("*")].forEach((element, i) => copyStyle(originals[i], element));
  for (const name of copy.getAttributeNames()) copy.removeAttribute(name);
  const size = { width: Math.ceil(width), height: Math.ceil(height) };
  const attributes = { xmlns: "http://www.w3.org/2000/svg", ...size, viewBox: `0 0 ${size.width} ${size.height}` };
  for (const [name, value] of Object.entries(attributes)) copy.setAttribute(name, value);
  const background = getComputedStyle($("tree-card")).backgroundColor;
  copy.prepend(svg("rect", { ...size, fill: background }));
  return new XMLSerializer().serializeToString(copy);
}

function copyStyle(original, copy) {
  const style = getComputedStyle(original);
  for (const name of STYLE_PROPERTIES) {
    const value = style.getPropertyValue(name);
    const isSet = value && value !== "none";
    if (isSet || name === "fill" || name === "stroke") copy.setAttribute(name, value);
  }
  const ariaNames = copy.getAttributeNames().filter((name) => name.startsWith("aria-"));
  for (const name of ["class", "tabindex", "role", "data-node", ...ariaNames]) copy.removeAttribute(name);
}

// A CASE expression with one WHEN per leaf, in the order of the tree.
function sqlOf(raw, tree, state) {
  const prediction = (v) => (raw.kind === "numbers" ? tree.samples[0].mean[v] : sqlLiteral((raw.class_values || raw.classes)[tree.labels[v]]));
  if (!state.kept[0]) return `${prediction(0)}\n`;
  const lines = state.numbers.leaves.map((v) => {
    const tests = [];
    for (let u = v; u > 0; u = tree.parent[u]) tests.unshift(sqlTest(raw, tree, u));
    return `  WHEN ${tests.join(" AND ")} THEN ${prediction(v)}`;
  });
  return `CASE\n${lines.join("\n")}\nEND\n`;
}

function sqlName({ name, original_name: originalName }) {
  return `"${(originalName ?? name).replace(/"/g, '""')}"`;
}

function sqlLiteral(value) {
  if (typeof value === "number") return String(value);
  if (typeof value === "boolean") return value ? "TRUE" : "FALSE";
  return `'${String(value).replace(/'/g, "''")}'`;
}

// The test that leads to node u.
function sqlTest(raw, tree, u) {
  const p = tree.parent[u];
  const { text, acceptsNull } = tree.isNominal(p) ? sqlCategoryTest(raw, tree, u) : sqlNumberTest(raw, tree, u);
  return acceptsNull ? `(${text} OR ${sqlName(raw.columns[tree.feature[p]])} IS NULL)` : text;
}

function sqlNumberTest(raw, tree, u) {
  const p = tree.parent[u];
  const column = raw.columns[tree.feature[p]];
  const name = sqlName(column);
  const threshold = tree.exactThreshold[p];
  const isFirst = tree.childNumber[u] === 0;
  const acceptsNull = tree.fallbackChild[p] === tree.childNumber[u];
  // A threshold of infinity tests whether the value is known.
  if (threshold === Infinity) return { text: isFirst ? `${name} IS NOT NULL` : "1 = 0", acceptsNull };
  return { text: `${name} ${isFirst ? "<=" : ">"} ${column.date ? `'${formatDay(threshold)}'` : threshold}`, acceptsNull };
}

function sqlCategoryTest(raw, tree, u) {
  const p = tree.parent[u];
  const child = tree.childNumber[u];
  const column = raw.columns[tree.feature[p]];
  const name = sqlName(column);
  const values = column.values || column.categories;
  const isFallback = tree.fallbackChild[p] === child;
  const acceptsNull = column.has_missing ? tree.childOf(p, values.length) === child : isFallback;
  // Unknown categories take the fallback child, so its test excludes the categories of the other children.
  const isListed = (code) => !isNaN(tree.childOf(p, code)) && (tree.childOf(p, code) === child) !== isFallback;
  const list = values.filter((_, code) => isListed(code)).map(sqlLiteral).join(", ");
  if (isFallback) return { text: list ? `${name} NOT IN (${list})` : `${name} IS NOT NULL`, acceptsNull };
  return { text: list ? `${name} IN (${list})` : "1 = 0", acceptsNull };
}

// The nodes of the shown tree in pre-order, with their numbers in the grown tree.
function treeAsJson(raw, tree, state, words) {
  const nodes = [];
  for (let v = 0; v < tree.n; v = state.kept[v] ? v + 1 : tree.end[v]) nodes.push(nodeAsJson(raw, tree, state, words, v));
  return { title: raw.title, leaves: state.numbers.leaves.length, cuts: state.numbers.cuts, nodes };
}

function nodeAsJson(raw, tree, state, words, v) {
  const node = { node: v, parent: v ? tree.parent[v] : null, branch: v ? words.branchText(v) : null };
  const j = tree.feature[v];
  if (!state.kept[v]) {
    node.prediction = raw.kind === "classes" ? raw.classes[tree.labels[v]] : tree.samples[0].mean[v];
  } else if (j >= 0) {
    node.column = raw.columns[j].original_name ?? raw.columns[j].name;
    if (!tree.isNominal(v)) node.threshold = isFinite(tree.exactThreshold[v]) ? tree.exactThreshold[v] : null;
  }
  for (const sample of tree.samples) {
    const rowsByClass = () => raw.classes.map((name, c) => [name, sample.counts[v * raw.classes.length + c]]);
    if (raw.kind === "classes") node[sample.name] = Object.fromEntries(rowsByClass().filter(([, rows]) => rows > 0));
    else node[sample.name] = { rows: sample.total[v], mean: sample.mean[v] };
  }
  return node;
}
