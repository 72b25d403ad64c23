// The shown tree as files: a drawing, rules, SQL, JSON.

function downloadsOf(raw, tree, state, words, picture) {
  const stem = (raw.title.normalize("NFKD").replace(/[^A-Za-z0-9]+/g, "-").replace(/^-+|-+$/g, "") || "tree").slice(0, 60);

  function save(name, content, type) {
    const address = URL.createObjectURL(content instanceof Blob ? content : new Blob([content], { type }));
    const link = html("a", { href: address, download: `${stem}${name}` });
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(address), 10000);
  }

  async function png() {
    const text = drawing(picture);
    const image = new Image();
    image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
    await image.decode();
    const scale = Math.min(3, 8000 / Math.max(image.width, image.height));
    const canvas = html("canvas", { width: Math.ceil(image.width * scale), height: Math.ceil(image.height * scale) });
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
    canvas.toBlob((blob) => save(".png", blob));
  }

  return [
    ["SVG", () => save(".svg", drawing(picture), "image/svg+xml")],
    ["PNG", png],
    ["Rules", () => save("-rules.txt", `${state.numbers.leaves.map(words.rule).join("\n")}\n`, "text/plain")],
    ["SQL", () => save(".sql", sqlOf(raw, tree, state), "text/plain")],
    ["JSON", () => save(".json", `${JSON.stringify(treeAsJson(raw, tree, state, words), null, 1)}\n`, "application/json")],
  ];
}

// The whole drawing as a file of its own: looks that come from the page's style are written into the elements.
function drawing(picture) {
  const { width, height } = picture.view.world();
  const from = $("tree");
  const copy = from.cloneNode(true);
  const names = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-opacity", "stroke-dasharray", "font-size", "font-weight", "font-family", "paint-order", "opacity"];
  const [olds, news] = [from, copy].map((root) => [...root.querySelectorAll("*")]);
  news.forEach((element, i) => {
    const style = getComputedStyle(olds[i]);
    for (const name of names) {
      const value = style.getPropertyValue(name);
      if (value && value !== "none" || name === "fill" || name === "stroke") element.setAttribute(name, value);
    }
    for (const name of ["class", "tabindex", "role", "data-node", ...element.getAttributeNames().filter((other) => other.startsWith("aria-"))]) element.removeAttribute(name);
  });
  for (const name of copy.getAttributeNames()) copy.removeAttribute(name);
  const [wide, high] = [Math.ceil(width), Math.ceil(height)];
  for (const [name, value] of Object.entries({ xmlns: "http://www.w3.org/2000/svg", width: wide, height: high, viewBox: `0 0 ${wide} ${high}` })) copy.setAttribute(name, value);
  copy.prepend(svg("rect", { width: wide, height: high, fill: getComputedStyle($("trunk")).backgroundColor }));
  return new XMLSerializer().serializeToString(copy);
}

// One CASE: each leaf by the tests on its path, in the order of the tree.
function sqlOf(raw, tree, state) {
  const name = (j) => `"${(raw.columns[j].own ?? raw.columns[j].name).replace(/"/g, '""')}"`;
  const literal = (value) => (typeof value === "number" ? String(value) : typeof value === "boolean" ? (value ? "TRUE" : "FALSE") : `'${String(value).replace(/'/g, "''")}'`);
  function test(u) {
    const p = tree.parent[u];
    const j = tree.feature[p];
    const child = tree.childNumber[u];
    const column = name(j);
    const isSentOn = tree.sentOn[p] === child;
    if (!tree.isNominal(p)) {
      const cut = raw.columns[j].date ? `'${dayText(tree.cut[p])}'` : tree.cut[p];
      const known = tree.cut[p] === Infinity ? (child === 0 ? `${column} IS NOT NULL` : "1 = 0") : `${column} ${child === 0 ? "<=" : ">"} ${cut}`;
      return isSentOn ? `(${known} OR ${column} IS NULL)` : known;
    }
    const values = raw.columns[j].values || raw.columns[j].categories;
    const going = (isHere) => values.filter((_, code) => (tree.childOf(p, code) === child) === isHere && !isNaN(tree.childOf(p, code))).map(literal);
    const gap = raw.columns[j].gaps ? tree.childOf(p, values.length) === child : isSentOn;
    const list = going(!isSentOn);
    const known = isSentOn ? (list.length ? `${column} NOT IN (${list.join(", ")})` : `${column} IS NOT NULL`) : list.length ? `${column} IN (${list.join(", ")})` : "1 = 0";
    return gap ? `(${known} OR ${column} IS NULL)` : known;
  }
  const answer = (v) => (raw.kind === "classes" ? literal(raw.class_values ? raw.class_values[tree.labels[v]] : raw.classes[tree.labels[v]]) : tree.samples[0].mean[v]);
  const lines = state.numbers.leaves.map((v) => {
    const tests = [];
    for (let u = v; u > 0; u = tree.parent[u]) tests.unshift(test(u));
    return tests.length ? `  WHEN ${tests.join(" AND ")} THEN ${answer(v)}` : null;
  });
  if (lines[0] === null) return `${answer(0)}\n`;
  return `CASE\n${lines.join("\n")}\nEND\n`;
}

// The kept nodes in pre-order, with the numbers of the grown tree.
function treeAsJson(raw, tree, state, words) {
  const k = raw.classes.length;
  const nodes = [];
  for (let v = 0; v < tree.n; v = state.kept[v] ? v + 1 : tree.end[v]) {
    const j = tree.feature[v];
    const node = { node: v, parent: v ? tree.parent[v] : null, branch: v ? words.branchText(v) : null };
    if (state.kept[v] && j >= 0) {
      node.column = raw.columns[j].own ?? raw.columns[j].name;
      if (!tree.isNominal(v)) node.threshold = isFinite(tree.cut[v]) ? tree.cut[v] : null;
    } else if (!state.kept[v]) node.answer = raw.kind === "classes" ? raw.classes[tree.labels[v]] : tree.samples[0].mean[v];
    for (const sample of tree.samples) {
      node[sample.name] = raw.kind === "classes" ? Object.fromEntries(raw.classes.map((name, c) => [name, sample.counts[v * k + c]]).filter(([, n]) => n > 0)) : { rows: sample.total[v], mean: sample.mean[v] };
    }
    nodes.push(node);
  }
  return { title: raw.title, leaves: state.numbers.leaves.length, cuts: state.numbers.cuts, nodes };
}
