// The part "Alternatives": all prunings that are about as good as the best on the held-out rows. While it is open, the
// drawing has the colours of the shares of these prunings that split each node.

const MAX_SPLITS_LISTED = 60;

function createAlternatives(raw, tree, state, words, errors, picture) {
  const { sentence, code, shares, columns, best, smallest, draws } = raw.alternatives;
  let nDrawn = 0;

  const isOpen = () => !$("alternatives").hidden;
  const shareOf = (v) => (tree.arity[v] > 0 ? shares[tree.internalIndex[v]] / 1000 : null);

  // The place of a node in the range of colours. Splits of all trees and of no tree keep a distance from all others.
  function colourPosition(share) {
    if (share === null || share === 0 || share === 1) return share;
    return 0.2 + 0.5 * share;
  }

  // The nodes that a stored pruning keeps, from the bits of the internal nodes.
  function unpackKept(packed) {
    const bytes = atob(packed);
    const kept = new Uint8Array(tree.n);
    for (let v = 0; v < tree.n; v++) {
      const i = tree.internalIndex[v];
      if (i >= 0) kept[v] = (bytes.charCodeAt(i >> 3) >> (7 - (i & 7))) & 1;
    }
    return kept;
  }

  function take(packed, name, call) {
    state.take(unpackKept(packed), name, `${code}${call}`);
    const { leaves, costs } = state.numbers;
    announce(`${name}: ${formatCount(leaves.length, "leaf", "leaves")}, ${errors.format(errors.rate(1, costs[1]))} on the held-out rows.`);
  }

  function drawRandom() {
    const i = nDrawn % draws.length;
    nDrawn += 1;
    take(draws[i], `random tree ${i + 1} of ${draws.length}`, `.sample(${draws.length}, random_state=0)[${i}]`);
  }

  function takeWithout(name) {
    const column = columns.find(([shown]) => shown === name);
    take(column[2], `without ${name}`, `.without(${JSON.stringify(column[3])})`);
  }

  // What the drawing needs of a node: its colour, and its share in words.
  function nodeColours(v) {
    const share = shareOf(v);
    if (share === null) return null;
    return { colour: rampColour(colourPosition(share)), text: `Split in ${shareText(share)} of the good trees.` };
  }

  const splits = html("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Splits by share" });

  // Only the list of splits depends on the shown tree.
  function draw() {
    if (isOpen()) picture.colourBy(nodeColours);
    splits.replaceChildren(splitTable());
  }

  function build() {
    $("alternatives").replaceChildren(
      html("h2", {}, "Trees that are as good"),
      html("p", { class: "paragraph" }, `${sentence}.`),
      controls(),
      shareLegend(),
      html("p", { class: "note" },
        "Every tree counts once, so that trees with many leaves, of which there are most, decide the shares. Splits with " +
        "the same class in all branches count, too. The held-out rows have chosen these trees: the limit shown for " +
        "one of them pays for that choice, and a certificate needs other rows."),
      html("div", { class: "plots" },
        html("div", { class: "plot-box" }, html("h3", {}, "Columns"), columnTable()),
        html("div", { class: "plot-box" }, html("h3", {}, "Splits of the shown tree"), splits)),
    );
  }

  function controls() {
    const dispensable = columns.filter((column) => column[2] !== null).map(([name]) => name);
    const options = [["", "…"], ...dispensable.map((name) => [name, name])];
    const select = html("select", { id: "take-without" },
      ...options.map(([value, text]) => html("option", { value }, text)));
    select.addEventListener("change", () => select.value && takeWithout(select.value));
    return html("p", { class: "buttons" },
      button("The smallest", () => take(smallest, "smallest good tree", ".smallest()"), { id: "take-smallest" }),
      button("The best", () => take(best, "best tree", ".best"), { id: "take-best" }),
      button("One at random", drawRandom, { id: "take-random" }),
      dispensable.length ? html("label", { class: "choice" }, "The best without ", select) : null);
  }

  function shareLegend() {
    const bar = (width, ...shares) => svg("svg", { class: "key", width, height: 12, "aria-hidden": "true" },
      ...shares.map((share, i) => svg("rect", { x: 6 * i, width: width / shares.length, height: 12, fill: rampColour(colourPosition(share)) })));
    const between = Array.from({ length: 15 }, (_, i) => (i + 0.5) / 15);
    return html("ul", { class: "legend", "aria-label": "Colours of the drawing" },
      html("li", {}, bar(12, 1), "split in all of these trees: needed"),
      html("li", {}, bar(90, ...between), "in few to most"),
      html("li", {}, bar(12, 0), "in none"));
  }

  function columnTable() {
    const body = columns.map(([name, share, packed]) => [
      html("bdi", {}, name),
      shareText(share / 1000),
      packed === null ? "needed" : "can be left out",
    ]);
    return table(["column", "trees that use it", ""], body, { class: "wide" });
  }

  // The splits that the fewest of the good trees have come first.
  function splitTable() {
    const kept = [];
    for (let v = 0; v < tree.n; v++) if (state.kept[v]) kept.push(v);
    kept.sort((a, b) => shareOf(a) - shareOf(b) || a - b);
    const body = kept.slice(0, MAX_SPLITS_LISTED).map((v) => [
      button(String(v), () => picture.select(v, { focus: true }), { class: "plain", "aria-label": `Show node ${v}` }),
      html("bdi", { class: "rule" }, words.columnName(v) || "its branches"),
      formatNumber(tree.samples[0].total[v]),
      shareText(shareOf(v)),
    ]);
    return table(["node", "tests", "rows", "trees that split it"], body, { class: "wide" });
  }

  build();
  return { draw, leave: () => picture.colourBy(null) };
}

// A share of the good trees; only exact shares are called none and all.
function shareText(share) {
  if (share === 0) return "none";
  return share === 1 ? "all" : formatPercent(share);
}
