// Tests, rules and predictions as text, and the sentences that say why a node was cut or kept.
// Rules are written as export_rules writes them: each column that a path tests appears once.

const MAX_UNABBREVIATED_NAME = 18; // letters
const MIN_ABBREVIATED_PREFIX = 6; // letters

function createWording(raw, tree) {
  const isNumeric = (v) => tree.feature[v] >= 0 && !tree.isNominal(v);
  const { codesOf } = tree;

  // A set of categories of column `j` as text. The code after the last category stands for missing values. Codes that
  // cannot reach a node have no child in the data, so that `codes` contains only categories that can occur there.
  function categoriesText(j, codes) {
    const { name, categories, has_missing } = raw.columns[j];
    if (!categories) return `${name} in {${codes.map((code) => `category ${code}`).join(", ")}}`;
    const words = codes.filter((code) => code < categories.length).map((code) => categories[code]);
    const withMissing = has_missing && codes.length > words.length;
    if (withMissing && words.length === 0) return `${name} is missing`;
    if (words.length === 0) return `${name} is another`;
    const text = words.length === 1 ? `${name} = ${words[0]}` : `${name} in {${words.join(", ")}}`;
    return withMissing ? `${text} or missing` : text;
  }

  const UNRESTRICTED = { low: "", high: "", canBeMissing: true, canBeKnown: true };
  const redundantNodes = new Set(raw.redundant); // the comparison that leads here is implied by an earlier one

  // The range of values at node v, from the range at its parent. `narrows` is false if the comparison is redundant.
  function narrowRange(range, v, narrows = !redundantNodes.has(v)) {
    const p = tree.parent[v];
    const isFirst = tree.childNumber[v] === 0;
    const canBeMissing = range.canBeMissing && tree.childNumber[v] === tree.defaultChild[p];
    if (tree.threshold[p] === "inf") return { ...range, canBeMissing, canBeKnown: range.canBeKnown && isFirst };
    if (!narrows) return { ...range, canBeMissing };
    return { ...range, canBeMissing, [isFirst ? "high" : "low"]: tree.threshold[p] };
  }

  // A range or a set of codes of column `j` as text; empty if it excludes nothing.
  function conditionText(j, values) {
    if (Array.isArray(values)) return categoriesText(j, values);
    const { name, has_missing } = raw.columns[j];
    const { low, high, canBeMissing, canBeKnown } = values;
    if (!canBeKnown) return canBeMissing ? `${name} is missing` : `${name} > inf`;
    if (!low && !high) return canBeMissing ? "" : `${name} is known`;
    let text = high ? `${name} <= ${high}` : `${name} > ${low}`;
    if (low && high) text = `${low} < ${text}`;
    return has_missing && canBeMissing ? `${text} or missing` : text;
  }

  // The conditions on the path to a node: one text per column, in the order in which columns are first tested.
  function conditions(v) {
    const path = [];
    for (let u = v; u > 0; u = tree.parent[u]) path.unshift(u);
    const valuesByColumn = new Map();
    const untested = []; // nodes of a bare structure, whose tests are unknown
    for (const u of path) {
      const p = tree.parent[u];
      const j = tree.feature[p];
      if (j < 0) untested.push(`node ${u}`);
      else if (isNumeric(p)) valuesByColumn.set(j, narrowRange(valuesByColumn.get(j) || UNRESTRICTED, u));
      else valuesByColumn.set(j, codesOf(p, tree.childNumber[u]));
    }
    const texts = [...valuesByColumn].map(([j, values]) => conditionText(j, values));
    return [...untested, ...texts.filter((text) => text)];
  }

  // The test that leads from the parent of a node to the node.
  function branchText(v) {
    if (v === 0) return "all rows";
    const p = tree.parent[v];
    const j = tree.feature[p];
    if (j < 0) return `node ${v}`;
    if (!isNumeric(p)) return categoriesText(j, codesOf(p, tree.childNumber[v]));
    return conditionText(j, narrowRange(UNRESTRICTED, v, true)) || `${raw.columns[j].name} <= inf or missing`;
  }

  // The same without the name of the column, for the drawing.
  function branchLabel(v) {
    const p = tree.parent[v];
    if (v === 0 || tree.feature[p] < 0) return "";
    const text = branchText(v);
    const { name } = raw.columns[tree.feature[p]];
    const test = text.startsWith(name) ? text.slice(name.length).trim() : text;
    return test.replace(/^<= /, "≤ ").replace(/^= /, "").replace(/^in \{(.*)\}/, "$1").replace(" or missing", " or –");
  }

  const columnName = (v) => (tree.feature[v] < 0 ? "" : raw.columns[tree.feature[v]].name);

  // Long names with a common beginning are shortened to the part in which they differ.
  const testedNames = [...new Set(tree.feature)].filter((j) => j >= 0).map((j) => raw.columns[j].name);
  const prefix = commonPrefix(testedNames);
  function columnLabel(v) {
    const name = columnName(v);
    const isLong = name.length > MAX_UNABBREVIATED_NAME && prefix.length >= MIN_ABBREVIATED_PREFIX;
    return isLong ? `…${name.slice(prefix.length)}` : name;
  }

  // The branch of a category as a letter, for small drawings.
  const childLetter = (v, code) => String.fromCharCode(65 + (tree.childOf(v, code) || 0));

  const prediction = (v) => (raw.kind === "classes" ? raw.classes[tree.labels[v]] : formatNumber(tree.samples[0].mean[v]));

  const predictionLabel = (v) => (raw.kind === "classes" ? prediction(v) : formatMeasure(tree.samples[0].mean[v], 4));

  // The end of a rule: the prediction, the rows and their error.
  function conclusion(v) {
    const { total, cost, isWhole } = tree.samples[0];
    const isWeighted = !isWhole && raw.kind === "classes";
    const rows = isWeighted ? `weight ${formatNumber(total[v])}` : formatCount(total[v], "row");
    if (raw.kind === "numbers") {
      const rmse = total[v] > 0 ? `, RMSE ${formatMeasure(Math.sqrt(cost[v] / total[v]))}` : "";
      return `${predictionLabel(v)} (${rows}${rmse})`;
    }
    const error = total[v] > 0 ? `, error ${((100 * cost[v]) / total[v]).toFixed(1)}%` : "";
    return `${prediction(v)} (${rows}${error})`;
  }

  const ruleText = (v) => `IF ${conditions(v).join(" AND ") || "TRUE"} THEN ${conclusion(v)}`;

  // Replace each {name} in a template of `reasons` by the number of node v with that name.
  function fillTemplate(reasons, v, template) {
    return template.replace(/\{(\w+)\}/g, (placeholder, name) =>
      reasons.values[name] ? formatNumber(reasons.values[name][tree.internalIndex[v]]) : placeholder);
  }

  // The number of the sentence of node v; -1 for an original leaf.
  const sentenceNumber = (reasons, v) => (reasons && tree.internalIndex[v] >= 0 ? reasons.sentence[tree.internalIndex[v]] : -1);

  // Why a node was cut or kept, with the arithmetic of the rule.
  function fullReason(reasons, v) {
    const i = sentenceNumber(reasons, v);
    return i < 0 ? "" : fillTemplate(reasons, v, reasons.templates[i]);
  }

  // The same in one short sentence.
  function shortReason(reasons, v, isCut) {
    const i = sentenceNumber(reasons, v);
    return i < 0 ? "" : fillTemplate(reasons, v, reasons.short_templates[i][isCut ? 0 : 1]);
  }

  return {
    conditions, branchText, branchLabel, columnName, columnLabel, prediction, predictionLabel, conclusion, ruleText,
    fullReason, shortReason, childLetter,
  };
}

// The beginning that all names share; empty for a single name.
function commonPrefix(names) {
  if (names.length < 2) return "";
  return names.reduce((prefix, name) => {
    const nEqual = [...prefix].findIndex((letter, i) => letter !== name[i]);
    return prefix.slice(0, nEqual < 0 ? prefix.length : nEqual);
  });
}
