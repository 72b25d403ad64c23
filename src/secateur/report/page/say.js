// Say it: the shown tree in one paragraph, made from its numbers.

function paragraphOf(raw, tree, state, words, errors) {
  const { leaves, costs } = state.numbers;
  const grown = tree.samples[0];
  const judge = tree.samples.length - 1;
  const found = [];
  const used = importancesOf(tree, state.kept).map(([j]) => raw.columns[j].name);
  const tested = used.length ? used : [...new Set([...tree.feature].filter((j, v) => state.kept[v] && j >= 0))].map((j) => raw.columns[j].name);
  const about = errors.isClasses ? `tells ${raw.classes.length === 2 ? `${raw.classes[0]} from ${raw.classes[1]}` : `${number(raw.classes.length)} classes apart`}` : "estimates a number";
  const listed = (names) => (names.length > 1 ? `${names.slice(0, -1).join(", ")} and ${names[names.length - 1]}` : names[0]);
  found.push(`This tree ${about} with ${count(leaves.length, "rule")}${tested.length ? `, which look at ${tested.length <= 4 ? listed(tested) : `${number(tested.length)} columns, above all ${listed(tested.slice(0, 3))}`}` : ""}. It was grown on ${count(grown.total[0], "row")}.`);
  const rate = errors.rate(judge, costs[judge]);
  const base = errors.rate(judge, tree.samples[judge].cost[0]);
  if (rate !== null) {
    const where = judge ? `${number(tree.samples[judge].total[0])} rows it had not seen` : "the rows it was grown on";
    if (errors.isClasses) {
      found.push(`On ${where} it is wrong for ${percent(rate)}${base > rate ? `; always answering ${raw.classes[tree.labels[0]]} would be wrong for ${percent(base)}` : ""}.`);
    } else found.push(`On ${where} its answers are off by ${errors.shown(rate)} (root mean square)${errors.explained(judge, rate) !== null ? `; it explains ${percent(Math.max(0, errors.explained(judge, rate)))} of the variance` : ""}.`);
  }
  const limit = state.limit();
  if (limit.value !== null) found.push(`With ${100 * (1 - raw.delta)} % confidence its error on new rows like these is at most ${percent(limit.value, Math.ceil)}.`);
  else if (limit.why) found.push(limit.why);
  const largest = [...leaves].sort((a, b) => grown.total[b] - grown.total[a]).slice(0, 2).filter((v) => v > 0 && grown.total[v] > 0);
  largest.forEach((v, i) => {
    const right = errors.isClasses ? `, which is right for ${percent(1 - grown.cost[v] / grown.total[v])} of them` : "";
    found.push(`${i ? "The next largest" : "The largest"} group, ${percent(grown.total[v] / grown.total[0])} of the rows, has ${words.conditions(v).join(" and ")}: the answer there is ${words.answerShort(v)}${right}.`);
  });
  const nCut = tree.nLeaves[0] - leaves.length;
  if (nCut > 0) found.push(`The unpruned tree had ${count(tree.nLeaves[0], "rule")}; ${number(nCut)} were cut away because they would not have held up on new rows or were not worth their length.`);
  return found.join(" ");
}

function sayOf(raw, tree, state, words, errors, picture) {
  const downloads = downloadsOf(raw, tree, state, words, picture);
  return () => {
    const text = paragraphOf(raw, tree, state, words, errors);
    $("say").replaceChildren(
      html("div", { class: "copyable" }, html("p", { class: "told", id: "told" }, html("bdi", {}, text)), copier(() => text, "Copy")),
      html("h3", {}, "Take the shown tree with you"),
      html("p", { class: "buttons" }, ...downloads.map(([name, act]) => button(name, act, { "data-download": name }))),
      html("p", { class: "note", id: "download-note" }, "SQL reads NULL as missing; numbers are compared exactly. Tables of rules print from the part Rules."),
    );
  };
}
