// The part "In words": the shown tree in one paragraph, and downloads of the shown tree.

function describeTree(raw, tree, state, words, errors, currency) {
  const { leaves } = state.numbers;
  const sentences = [
    describeColumns(raw, tree, state, errors),
    ...describeScores(raw, tree, state, errors, currency),
    ...describeLimit(raw, state),
    ...describeLargestLeaves(tree, leaves, words, errors),
  ];
  const nCut = tree.nLeaves[0] - leaves.length;
  if (nCut > 0) {
    const how = state.edits.length ? "were cut away, by the rule or by hand" : "were pruned away";
    sentences.push(`The tree as grown had ${formatCount(tree.nLeaves[0], "rule")}; ${formatNumber(nCut)} ${how}.`);
  }
  return sentences.join(" ");
}

function joinNames(names) {
  if (names.length === 1) return names[0];
  return `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`;
}

function describeColumns(raw, tree, state, errors) {
  const { leaves } = state.numbers;
  let columns = columnImportances(tree, state.kept).map(([j]) => j);
  if (!columns.length) columns = [...new Set([...tree.feature].filter((j, v) => state.kept[v] && j >= 0))];
  const names = columns.map((j) => raw.columns[j].name);
  let purpose = "estimates a number";
  if (errors.isClasses) {
    purpose = raw.classes.length === 2 ? `separates ${raw.classes[0]} from ${raw.classes[1]}` : `separates ${formatNumber(raw.classes.length)} classes`;
  }
  let tested = "";
  if (names.length > 4) tested = `, which test ${formatNumber(names.length)} columns, above all ${joinNames(names.slice(0, 3))}`;
  else if (names.length) tested = `, which test ${joinNames(names)}`;
  const nRules = formatCount(leaves.length, "rule");
  return `This tree ${purpose} with ${nRules}${tested}. It was grown on ${tree.samples[0].rows.replace("growing ", "")}.`;
}

// The score of the shown tree on the held-out rows if there are some, else on the growing rows, beside it the error on the
// same rows, and the cross-validated score. The templates and their preconditions are those of inspection/sentences.py.
function describeScores(raw, tree, state, errors, currency) {
  const { costs, scores } = state.numbers;
  const s = tree.samples.at(-1).total[0] ? tree.samples.length - 1 : 0;
  const sample = tree.samples[s];
  const { sentences, error_sentences: errorSentences, cross_validation: crossValidation, weighted } = raw.currency;
  const measured = [{ templates: sentences, format: currency.format, name: currency.name, value: scores[s], baseline: sample.baseline }];
  if (!currency.isError) {
    measured.push({ templates: errorSentences, format: errors.format, name: errors.name, value: errors.rate(s, costs[s]), baseline: sample.errorBaseline });
  }
  const texts = [];
  for (const { templates, format, name, value, baseline } of measured) {
    if (value === null) continue;
    const where = texts.length ? "the same rows" : sample.where[kindOfPruning(raw, state)];
    const values = { where, name, value: format(value), unit: sample.unit };
    if (baseline) Object.assign(values, { baseline: format(baseline.value), label: baseline.label });
    texts.push(fillIn(templates[compareScores(value, baseline)], values));
  }
  const cv = raw.stops.cv_name === "cross-validation" && !state.edits.length ? raw.stops.cv[state.stop] : null;
  if (cv !== null) {
    const se = currency.formatStandardError(cv, raw.stops.se[state.stop]);
    texts.push(fillIn(crossValidation, { name: currency.name, value: currency.format(cv), se, weighted }));
  }
  return texts;
}

// Which of the descriptions of a sample is true: rows that pruned the fitted tree did not make a cut by hand.
function kindOfPruning(raw, state) {
  if (state.edits.length) return "other";
  if (state.stop === raw.marks.fitted) return "fitted";
  return raw.stops.member[state.stop] >= 0 ? "member" : "other";
}

// Whether a score is better than that of the best constant prediction. The data have seven digits.
function compareScores(value, baseline) {
  if (!baseline) return "no baseline";
  return value < baseline.value * (1 - 1e-6) ? "better" : "no better";
}

const fillIn = (template, values) => template.replace(/\{(\w+)\}/g, (placeholder, name) => values[name] ?? placeholder);

function describeLimit(raw, state) {
  const limit = state.limit();
  if (limit.value === null) return limit.why ? [limit.why] : [];
  return [`With ${raw.confidence} confidence its error on new rows like these is at most ${formatPercent(limit.value, Math.ceil)}.`];
}

function describeLargestLeaves(tree, leaves, words, errors) {
  const { total, cost } = tree.samples[0];
  const largest = [...leaves].sort((a, b) => total[b] - total[a]).slice(0, 2).filter((v) => v > 0 && total[v] > 0);
  return largest.map((v, i) => {
    const start = i ? "The next largest" : "The largest";
    const right = errors.isClasses ? `, which is right for ${formatPercent(1 - cost[v] / total[v])} of them` : "";
    const rows = tree.samples[0].unit ? "weight of the growing rows" : "growing rows";
    const conditions = words.conditions(v).join(" and ");
    return `${start} group, ${formatPercent(total[v] / total[0])} of the ${rows}, has ${conditions}: the prediction there is ${words.predictionLabel(v)}${right}.`;
  });
}

function createDescription(raw, tree, state, words, errors, currency, picture) {
  const downloads = createDownloads(raw, tree, state, words, picture);
  return () => {
    const text = describeTree(raw, tree, state, words, errors, currency);
    const paragraph = html("p", { class: "paragraph", id: "description-text" }, html("bdi", {}, text));
    const buttons = downloads.map(([name, action]) => button(name, action, { "data-download": name }));
    $("description").replaceChildren(
      html("div", { class: "copyable" }, paragraph, copyButton(() => text, "Copy")),
      html("h3", {}, "Download the shown tree"),
      html("p", { class: "buttons" }, ...buttons),
      html("p", { class: "note" }, "SQL reads NULL as missing; numbers are compared exactly. The part Rules prints a table of rules."),
    );
  };
}
