// The chosen node: its rule, its counts, what it costs as a leaf, why it is one, and the shears.

function panelOf(raw, tree, state, words, errors, picture) {
  const closer = closerOf(raw, tree, state, words, errors, picture);
  const shown = errors.isClasses ? (s, cost, rows) => `${number(cost)}${rows ? ` (${percent(cost / rows)})` : ""}`
    : (s, cost, rows) => (rows ? errors.shown(cost / rows) : "–");

  function draw() {
    const v = state.selected;
    const isLeaf = state.isLeaf(v);
    $("panel-title").textContent = `Node ${v}: ${v === 0 ? "the root" : words.branchText(v)}`;
    const rule = words.rule(v);
    const isCut = isLeaf && tree.arity[v] > 0;
    $("panel-body").replaceChildren(
      html("div", {},
        closer.crumbs(v),
        html("p", { class: "what" }, isLeaf ? "A leaf that answers " : "A test of ", html("strong", {}, isLeaf ? words.answerShort(v) : words.columnOf(v) || "its branches"),
          isLeaf ? "." : `; as a leaf it would answer ${words.answerShort(v)}.`),
        html("div", { class: "copyable" }, html("p", { class: "rule" }, ...ruleParts(v)), copier(() => rule, "Copy rule")),
        shears(v, isLeaf),
        html("h3", {}, isCut ? "Why it is cut" : "Why"),
        ...why(v, isLeaf),
        limitNote(),
      ),
      html("div", {}, closer.bars(v), html("h3", {}, raw.kind === "classes" ? "Errors here" : "RMSE here"), costs(v, isLeaf),
        html("h3", {}, raw.kind === "classes" ? "Rows of each class" : "Rows and mean"), raw.kind === "classes" ? classes(v) : means(v)),
    );
  }

  // What may be said of a tree that was cut by hand after looking.
  function limitNote() {
    if (!state.edits.length) return null;
    const limit = state.limit();
    if (limit.from === "none") return html("p", { class: "note" }, `Cut by hand: not certified. ${limit.why}`);
    const price = `${number(state.numbers.nDecided)} nodes decided cost ln 2 each`;
    return html("p", { class: "note" },
      `Cut by hand after looking: the certificates of the slider do not hold for it. The limit shown (${percent(limit.value, Math.ceil)}) pays for every pruning there is: ${price}.`);
  }

  function ruleParts(v) {
    const conditions = words.conditions(v);
    const parts = [html("b", {}, "IF ")];
    conditions.forEach((text, i) => parts.push(i ? html("b", {}, " AND ") : null, html("bdi", {}, text)));
    if (!conditions.length) parts.push("TRUE");
    parts.push(html("b", {}, " THEN "), html("bdi", {}, words.conclusion(v)));
    return parts;
  }

  function shears(v, isLeaf) {
    const box = html("p", { class: "buttons" });
    if (state.kept[v]) box.append(button("Cut here", () => keepFocus(() => state.snip(v)), { id: "cut", class: "strong" }));
    else if (tree.arity[v] > 0) {
      box.append(button(`Restore its ${number(tree.nLeaves[v])} leaves`, () => keepFocus(() => state.restore(v)), { id: "restore", class: "strong" }));
    }
    if (v > 0) box.append(button("To its parent", () => picture.select(tree.parent[v], { focus: true })));
    return box;
  }

  // The button that was pressed is drawn anew; the focus stays with its successor.
  function keepFocus(act) {
    act();
    ($("restore") || $("cut"))?.focus();
  }

  // One plain sentence, and the arithmetic for those who open it.
  function why(v, isLeaf) {
    if (tree.arity[v] === 0) return [html("p", { class: "why", id: "why" }, "It was grown as a leaf: there is nothing to cut.")];
    const isFitted = raw.fitted_reasons && state.stop === raw.marks.fitted;
    const reasons = isFitted ? raw.fitted_reasons : raw.reasons;
    let hand = "";
    for (let i = state.edits.length - 1; i >= 0 && !hand; i--) {
      const { kind, node } = state.edits[i];
      if (v < node || v >= tree.end[node]) continue;
      if (kind === "snip" && node === v) hand = "Cut by hand.";
      if (kind === "restore") hand = `Restored by hand with the branch of node ${node}.`;
    }
    return [
      html("p", { class: "why", id: "why" }, hand || words.plainly(reasons, v, isLeaf)),
      html("details", { id: "sums" }, html("summary", {}, "The arithmetic"), html("p", { class: "why", id: "arithmetic" }, words.sentence(reasons, v))),
    ];
  }

  function costs(v, isLeaf) {
    const now = isLeaf ? null : state.numbersOf(state.kept, v);
    const all = Uint8Array.from(tree.arity, (arity) => (arity > 0 ? 1 : 0));
    const grown = tree.arity[v] > 0 ? state.numbersOf(all, v) : null;
    const head = ["sample", "as a leaf"];
    if (now) head.push(`branch now (${count(now.leaves.length, "leaf", "leaves")})`);
    if (grown) head.push(`as grown (${count(grown.leaves.length, "leaf", "leaves")})`);
    const body = tree.samples.map((sample, s) => {
      const cells = [sample.name, shown(s, sample.cost[v], sample.total[v])];
      if (now) cells.push(shown(s, now.costs[s], sample.total[v]));
      if (grown) cells.push(shown(s, grown.costs[s], sample.total[v]));
      return cells;
    });
    return table(head, body);
  }

  function classes(v) {
    const k = raw.classes.length;
    const order = Array.from({ length: k }, (_, c) => c)
      .filter((c) => tree.samples.some((sample) => sample.counts[v * k + c] > 0))
      .sort((a, b) => tree.samples[0].counts[v * k + b] - tree.samples[0].counts[v * k + a] || a - b);
    const listed = order.slice(0, 10);
    const sum = tree.samples[0].total[v] || 1;
    let left = 0;
    const bar = svg("svg", { class: "class-bar", viewBox: "0 0 100 8", preserveAspectRatio: "none", "aria-hidden": "true" }, ...order.map((c) => {
      const width = (100 * tree.samples[0].counts[v * k + c]) / sum;
      left += width;
      return svg("rect", { x: left - width, width, height: 8, fill: classColour(c) });
    }));
    const limit = tree.shares ? (text) => [text] : () => [];
    const body = listed.map((c) => [
      html("span", { class: "class-name" }, swatch(c), html("bdi", {}, raw.classes[c])),
      ...tree.samples.map((sample) => number(sample.counts[v * k + c])),
      ...limit(tree.shares && `${(tree.shares[v * k + c] / 10).toFixed(1)}\u00a0%`),
    ]);
    if (order.length > listed.length) {
      body.push([count(order.length - listed.length, "other class", "other classes"), ...tree.samples.map((sample) =>
        number(order.slice(10).reduce((sum, c) => sum + sample.counts[v * k + c], 0))), ...limit("")]);
    }
    body.push(["all", ...tree.samples.map((sample) => number(sample.total[v])), ...limit("")]);
    const found = table(["class", ...tree.samples.map((sample) => sample.name), ...limit("share at most")], body);
    if (!tree.shares) return html("div", {}, bar, found);
    return html("div", {}, bar, found, html("p", { class: "note", id: "shares" },
      `Share at most: of new rows like these, with ${percent(1 - raw.shares.delta, Math.floor)} confidence for all ${number(tree.n)} nodes at once, so for leaves chosen here too.`));
  }

  function means(v) {
    return table(["", ...tree.samples.map((sample) => sample.name)], [
      ["rows", ...tree.samples.map((sample) => number(sample.total[v]))],
      ["mean", ...tree.samples.map((sample) => (sample.total[v] ? figure(sample.mean[v], 4) : "–"))],
    ]);
  }

  return draw;
}
