// The part "In words": the shown tree in one paragraph, and downloads of the shown tree.

function describeTree(raw, tree, state, words, errors) {
  const { leaves } = state.numbers;
  const sentences = [
    describeColumns(raw, tree, state, errors),
    ...describeError(raw, tree, state, errors),
    ...describeLimit(raw, state),
    ...describeLargestLeaves(tree, leaves, words, errors),
  ];
  const nCut = tree.nLeaves[0] - leaves.length;
  if (nCut > 0) {
    sentences.push(
      `The unpruned tree had ${formatCount(tree.nLeaves[0], "rule")}; ${formatNumber(nCut)} were removed because they would not ` +
      "have held on new rows or were not worth their length.");
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
  return `This tree ${purpose} with ${nRules}${tested}. It was grown on ${formatCount(tree.samples[0].total[0], "row")}.`;
}

// The error on the held-out rows if there are some, else on the growing rows.
function describeError(raw, tree, state, errors) {
  const s = tree.samples.length - 1;
  const sample = tree.samples[s];
  const rate = errors.rate(s, state.numbers.costs[s]);
  if (rate === null) return [];
  const rows = s ? `${formatNumber(sample.total[0])} rows that it had not seen` : "the rows it was grown on";
  if (errors.isClasses) {
    const rootRate = errors.rate(s, sample.cost[0]);
    const rootClass = raw.classes[tree.labels[0]];
    const comparison = rootRate > rate ? `; always predicting ${rootClass} would be wrong for ${formatPercent(rootRate)}` : "";
    return [`On ${rows} it is wrong for ${formatPercent(rate)}${comparison}.`];
  }
  const explained = errors.explainedVariance(s, rate);
  const variance = explained === null ? "" : `; it explains ${formatPercent(Math.max(0, explained))} of the variance`;
  return [`On ${rows} its predictions are off by ${errors.format(rate)} (root mean square)${variance}.`];
}

function describeLimit(raw, state) {
  const limit = state.limit();
  if (limit.value === null) return limit.why ? [limit.why] : [];
  const confidence = 100 * (1 - raw.delta);
  return [`With ${confidence} % confidence its error on new rows like these is at most ${formatPercent(limit.value, Math.ceil)}.`];
}

function describeLargestLeaves(tree, leaves, words, errors) {
  const { total, cost } = tree.samples[0];
  const largest = [...leaves].sort((a, b) => total[b] - total[a]).slice(0, 2).filter((v) => v > 0 && total[v] > 0);
  return largest.map((v, i) => {
    const start = i ? "The next largest" : "The largest";
    const right = errors.isClasses ? `, which is right for ${formatPercent(1 - cost[v] / total[v])} of them` : "";
    const conditions = words.conditions(v).join(" and ");
    return `${start} group, ${formatPercent(total[v] / total[0])} of the rows, has ${conditions}: the prediction there is ${words.predictionLabel(v)}${right}.`;
  });
}

function createDescription(raw, tree, state, words, errors, picture) {
  const downloads = createDownloads(raw, tree, state, words, picture);
  return () => {
    const text = describeTree(raw, tree, state, words, errors);
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
