// Paths as rules, nodes in words, and the sentence that says why a node is a leaf.
// The rules are those of export_rules: what a path asks of one column is said once.

function wordsOf(raw, tree) {
  const isNumeric = (v) => tree.feature[v] >= 0 && !tree.isNominal(v);
  const { codesOf } = tree;

  // A set of categories of a column; the code after the last category is missing. Those that cannot
  // arrive have no child in the data: what is left is all that the way to a node leaves of them.
  function among(j, codes) {
    const { name, categories, gaps } = raw.columns[j];
    if (!categories) return `${name} in {${codes.map((code) => `category ${code}`).join(", ")}}`;
    const words = codes.filter((code) => code < categories.length).map((code) => categories[code]);
    const withMissing = gaps && codes.length > words.length;
    if (withMissing && words.length === 0) return `${name} is missing`;
    if (words.length === 0) return `${name} is another`;
    const text = words.length === 1 ? `${name} = ${words[0]}` : `${name} in {${words.join(", ")}}`;
    return withMissing ? `${text} or missing` : text;
  }

  const anything = { low: "", high: "", missingIn: true, knownIn: true };
  const idle = new Set(raw.idle); // here a comparison tells no more than one above it

  // What is known of a number at node v, from what was known before its parent's test.
  function narrowed(known, v, tells = !idle.has(v)) {
    const p = tree.parent[v];
    const isFirst = tree.childNumber[v] === 0;
    const missingIn = known.missingIn && tree.childNumber[v] === tree.defaultChild[p];
    if (tree.threshold[p] === "inf") return { ...known, missingIn, knownIn: known.knownIn && isFirst };
    return { ...known, missingIn, ...(tells && { [isFirst ? "high" : "low"]: tree.threshold[p] }) };
  }

  function condition(j, known) {
    const { name, gaps } = raw.columns[j];
    if (Array.isArray(known)) return among(j, known);
    if (!known.knownIn) return known.missingIn ? `${name} is missing` : `${name} > inf`;
    if (!known.low && !known.high) return known.missingIn ? "" : `${name} is known`;
    let text = known.high ? `${name} <= ${known.high}` : `${name} > ${known.low}`;
    if (known.low && known.high) text = `${known.low} < ${text}`;
    return gaps && known.missingIn ? `${text} or missing` : text;
  }

  // What the way to a node asks, one text for each column, in the order of the first test.
  function conditions(v) {
    const path = [];
    for (let u = v; u > 0; u = tree.parent[u]) path.push(u);
    const known = new Map();
    const bare = [];
    for (const u of path.reverse()) {
      const p = tree.parent[u];
      const j = tree.feature[p];
      if (j < 0) bare.push(`node ${u}`);
      else if (isNumeric(p)) known.set(j, narrowed(known.get(j) || anything, u));
      else known.set(j, codesOf(p, tree.childNumber[u]));
    }
    return [...bare, ...[...known].map(([j, what]) => condition(j, what)).filter((text) => text)];
  }

  // What leads to a node from its parent, in full and short.
  function branchText(v) {
    if (v === 0) return "all rows";
    const p = tree.parent[v];
    const j = tree.feature[p];
    if (j < 0) return `node ${v}`;
    if (!isNumeric(p)) return among(j, codesOf(p, tree.childNumber[v]));
    return condition(j, narrowed(anything, v, true)) || `${raw.columns[j].name} <= inf or missing`;
  }

  function branchShort(v) {
    const p = tree.parent[v];
    if (v === 0 || tree.feature[p] < 0) return "";
    const full = branchText(v);
    const { name } = raw.columns[tree.feature[p]];
    const rest = full.startsWith(name) ? full.slice(name.length).trim() : full;
    return rest.replace(/^<= /, "≤ ").replace(/^= /, "").replace(/^in \{(.*)\}/, "$1").replace(" or missing", " or –");
  }

  const columnOf = (v) => (tree.feature[v] < 0 ? "" : raw.columns[tree.feature[v]].name);

  // Long names that begin alike are told apart by the rest of them.
  const used = [...new Set(tree.feature)].filter((j) => j >= 0).map((j) => raw.columns[j].name);
  const common = used.length > 1 ? used.reduce((a, b) => a.slice(0, [...a].findIndex((letter, i) => letter !== b[i]) >>> 0)) : "";
  const columnShort = (v) => {
    const name = columnOf(v);
    return name.length > 18 && common.length > 5 ? `…${name.slice(common.length)}` : name;
  };

  // The branch of a category as a letter, for small pictures.
  const childMark = (v, code) => String.fromCharCode(65 + (tree.childOf(v, code) || 0));

  const answer = (v) => (raw.kind === "classes" ? raw.classes[tree.labels[v]] : number(tree.samples[0].mean[v]));

  const answerShort = (v) => (raw.kind === "classes" ? answer(v) : figure(tree.samples[0].mean[v], 4));

  function conclusion(v) {
    const sample = tree.samples[0];
    const total = sample.total[v];
    const rows = !sample.isWhole && raw.kind === "classes" ? `weight ${number(total)}` : count(total, "row");
    if (raw.kind === "numbers") return `${answerShort(v)} (${rows}${total > 0 ? `, RMSE ${figure(Math.sqrt(sample.cost[v] / total))}` : ""})`;
    const share = total > 0 ? `, error ${((100 * sample.cost[v]) / total).toFixed(1)}%` : "";
    return `${answer(v)} (${rows}${share})`;
  }

  const rule = (v) => `IF ${conditions(v).join(" AND ") || "TRUE"} THEN ${conclusion(v)}`;

  const filled = (reasons, v, text) => text.replace(/\{(\w+)\}/g, (whole, name) =>
    reasons.values[name] ? number(reasons.values[name][tree.place[v]]) : whole);

  function sentence(reasons, v) {
    const which = reasons && tree.place[v] >= 0 ? reasons.which[tree.place[v]] : -1;
    return which < 0 ? "" : filled(reasons, v, reasons.templates[which]);
  }

  function plainly(reasons, v, isCut) {
    const which = reasons && tree.place[v] >= 0 ? reasons.which[tree.place[v]] : -1;
    return which < 0 ? "" : filled(reasons, v, reasons.plain[which][isCut ? 0 : 1]);
  }

  return { conditions, branchText, branchShort, columnOf, columnShort, answer, answerShort, conclusion, rule, sentence, plainly, childMark };
}
