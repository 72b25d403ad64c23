// The part "Node": the rule of the selected node, its rows and costs, why it was cut or kept, and the buttons that cut.

const MAX_CLASSES_LISTED = 10;

function createPanel(raw, tree, state, words, errors, currency, picture) {
  const details = createNodeDetails(raw, tree, state, words, errors, picture);
  const { isClasses } = errors;

  // The cost of rows, with the error rate; for numbers the root mean squared error alone.
  function formatCost(cost, rows) {
    if (!isClasses) return rows ? errors.format(cost / rows) : "–";
    return `${formatNumber(cost)}${rows ? ` (${formatPercent(cost / rows)})` : ""}`;
  }

  function draw() {
    const v = state.selected;
    const isLeaf = state.isLeaf(v);
    const isCut = isLeaf && tree.arity[v] > 0;
    $("panel-title").textContent = `Node ${v}: ${v === 0 ? "the root" : words.branchText(v)}`;
    $("panel-body").replaceChildren(
      html("div", {},
        details.pathButtons(v),
        nodeKind(v, isLeaf),
        html("div", { class: "copyable" }, html("p", { class: "rule" }, ...ruleParts(v)), copyButton(() => words.ruleText(v), "Copy rule")),
        cutButtons(v),
        html("h3", {}, isCut ? "Why it is cut" : "Why"),
        ...reasonParts(v, isLeaf),
        limitNote(),
      ),
      html("div", {},
        details.distribution(v),
        ...scoreParts(v, isLeaf),
        html("h3", {}, isClasses ? "Errors here" : "RMSE here"),
        costTable(v, isLeaf, (sample) => sample.cost, formatCost),
        html("h3", {}, isClasses ? "Rows of each class" : "Rows and mean"),
        isClasses ? classTable(v) : meanTable(v)),
    );
  }

  function nodeKind(v, isLeaf) {
    const prediction = words.predictionLabel(v);
    if (isLeaf) return html("p", { class: "node-kind" }, "A leaf that predicts ", html("strong", {}, prediction), ".");
    const column = html("strong", {}, words.columnName(v) || "its branches");
    return html("p", { class: "node-kind" }, "A test of ", column, `; as a leaf it would predict ${prediction}.`);
  }

  // The limit that holds for a tree that was cut by hand.
  function limitNote() {
    if (!state.edits.length) return null;
    const limit = state.limit();
    const how = state.edits[0].kind === "take" ? "Chosen" : "Cut by hand";
    if (limit.from === "none") return html("p", { class: "note" }, `${how}: not certified. ${limit.why}`);
    const price = `${formatNumber(state.numbers.nDecisions)} nodes decided cost ln 2 each`;
    return html("p", { class: "note" },
      `${how} after looking: the certificates of the slider do not hold for it. ` +
      `The limit shown (${formatPercent(limit.value, Math.ceil)}) pays for every possible pruning: ${price}.`);
  }

  function ruleParts(v) {
    const conditions = words.conditions(v);
    const parts = [html("b", {}, "IF ")];
    conditions.forEach((text, i) => parts.push(i ? html("b", {}, " AND ") : null, html("bdi", {}, text)));
    if (!conditions.length) parts.push("TRUE");
    parts.push(html("b", {}, " THEN "), html("bdi", {}, words.conclusion(v)));
    return parts;
  }

  function cutButtons(v) {
    const box = html("p", { class: "buttons" });
    if (state.kept[v]) {
      box.append(button("Cut here", () => keepFocus(() => state.snip(v)), { id: "cut", class: "strong" }));
    } else if (tree.arity[v] > 0) {
      const text = `Restore its ${formatNumber(tree.nLeaves[v])} leaves`;
      box.append(button(text, () => keepFocus(() => state.restore(v)), { id: "restore", class: "strong" }));
    }
    if (v > 0) box.append(button("To its parent", () => picture.select(tree.parent[v], { focus: true })));
    return box;
  }

  // The action replaces the button that was pressed; the focus moves to the new button.
  function keepFocus(action) {
    action();
    ($("restore") || $("cut"))?.focus();
  }

  // One short sentence, and the arithmetic behind it in a part that can be opened.
  function reasonParts(v, isLeaf) {
    if (tree.arity[v] === 0) return [html("p", { class: "why", id: "why" }, "It was grown as a leaf: there is nothing to cut.")];
    const isFitted = raw.fitted_reasons && state.stop === raw.marks.fitted;
    const reasons = isFitted ? raw.fitted_reasons : raw.reasons;
    const arithmetic = html("p", { class: "why", id: "arithmetic" }, words.fullReason(reasons, v));
    return [
      html("p", { class: "why", id: "why" }, editReason(v) || words.shortReason(reasons, v, isLeaf)),
      html("details", { id: "sums" }, html("summary", {}, "The arithmetic"), arithmetic),
    ];
  }

  // The last edit that decided a node; empty if none did.
  function editReason(v) {
    for (const { kind, node } of [...state.edits].reverse()) {
      const isInBranch = v >= node && v < tree.end[node];
      if (isInBranch && kind === "snip" && node === v) return "Cut by hand.";
      if (isInBranch && kind === "restore") return `Restored by hand with the branch of node ${node}.`;
    }
    return "";
  }

  // The score that chose the tree, in this node; nothing if it is the error or no sum over leaves.
  function scoreParts(v, isLeaf) {
    if (!tree.samples[0].loss) return [];
    const format = (loss, rows) => (rows ? currency.format(loss / rows) : "–");
    return [html("h3", {}, `Here by ${currency.name}, per row`), costTable(v, isLeaf, (sample) => sample.loss, format)];
  }

  // The cost of the node as a leaf, of its branch as shown, and of its branch as grown, from the costs of all nodes.
  function costTable(v, isLeaf, costsOf, formatSum) {
    const asShown = isLeaf ? null : state.measurePruning(state.kept, v);
    const isInternal = Uint8Array.from(tree.arity, (arity) => (arity > 0 ? 1 : 0));
    const asGrown = tree.arity[v] > 0 ? state.measurePruning(isInternal, v) : null;
    const head = ["sample", "as a leaf"];
    if (asShown) head.push(`branch now (${formatCount(asShown.leaves.length, "leaf", "leaves")})`);
    if (asGrown) head.push(`as grown (${formatCount(asGrown.leaves.length, "leaf", "leaves")})`);
    const body = tree.samples.map((sample) => {
      const costs = costsOf(sample);
      const sumOf = (leaves) => formatSum(leaves.reduce((sum, u) => sum + costs[u], 0), sample.total[v]);
      const cells = [sample.name, formatSum(costs[v], sample.total[v])];
      if (asShown) cells.push(sumOf(asShown.leaves));
      if (asGrown) cells.push(sumOf(asGrown.leaves));
      return cells;
    });
    return table(head, body);
  }

  // The rows of each class in the node, the most frequent class first.
  function classTable(v) {
    const k = raw.classes.length;
    const rowsOf = (sample, c) => sample.counts[v * k + c];
    const [grown] = tree.samples;
    const order = Array.from({ length: k }, (_, c) => c)
      .filter((c) => tree.samples.some((sample) => rowsOf(sample, c) > 0))
      .sort((a, b) => rowsOf(grown, b) - rowsOf(grown, a) || a - b);
    const listed = order.slice(0, MAX_CLASSES_LISTED);
    const unlisted = order.slice(MAX_CLASSES_LISTED);
    const limitCell = (text) => (tree.shareLimits ? [text] : []);
    const body = listed.map((c) => [
      classLabel(c, raw.classes[c]),
      ...tree.samples.map((sample) => formatNumber(rowsOf(sample, c))),
      ...limitCell(tree.shareLimits && `${(tree.shareLimits[v * k + c] / 10).toFixed(1)}\u00a0%`),
    ]);
    if (unlisted.length) {
      const rows = tree.samples.map((sample) => formatNumber(unlisted.reduce((sum, c) => sum + rowsOf(sample, c), 0)));
      body.push([formatCount(unlisted.length, "other class", "other classes"), ...rows, ...limitCell("")]);
    }
    body.push(["all", ...tree.samples.map((sample) => formatNumber(sample.total[v])), ...limitCell("")]);
    const head = ["class", ...tree.samples.map((sample) => sample.name), ...limitCell("share at most")];
    return html("div", {}, classBar(v, order), table(head, body), shareNote());
  }

  // The class shares of the growing rows as one bar.
  function classBar(v, order) {
    const { counts, total } = tree.samples[0];
    const k = raw.classes.length;
    let x = 0;
    const parts = order.map((c) => {
      const width = (100 * counts[v * k + c]) / (total[v] || 1);
      x += width;
      return svg("rect", { x: x - width, width, height: 8, fill: classColour(c) });
    });
    return svg("svg", { class: "class-bar", viewBox: "0 0 100 8", preserveAspectRatio: "none", "aria-hidden": "true" }, ...parts);
  }

  function shareNote() {
    if (!tree.shareLimits) return null;
    const confidence = formatPercent(1 - raw.shares.delta, Math.floor);
    return html("p", { class: "note", id: "shares" },
      `Share at most: the limit for new rows like these, with ${confidence} confidence for all ${formatNumber(tree.n)} nodes ` +
      "at once, so also for leaves that are chosen here.");
  }

  function meanTable(v) {
    return table(["", ...tree.samples.map((sample) => sample.name)], meanRows(tree, v));
  }

  return draw;
}

// Rows of a table with the number of rows and the mean of the target at a node of a regression tree.
function meanRows(tree, v) {
  return [
    ["rows", ...tree.samples.map((sample) => formatNumber(sample.total[v]))],
    ["mean", ...tree.samples.map((sample) => (sample.total[v] ? formatMeasure(sample.mean[v], 4) : "–"))],
  ];
}
