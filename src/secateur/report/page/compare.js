// The part "Compare": the shown tree beside another pruning, the branches in which they differ, and their costs.

const MAX_STOPS_LISTED = 200;
const MAX_SMALL_LINES = 220;
const SMALL_DRAWING = { width: 360, height: 220 }; // pixels

function createComparison(raw, tree, state, words, errors, currency, picture) {
  const stops = raw.stops;
  let other = null; // { name, kept, numbers, limit }

  const stopName = (stop) => raw.names[stop] || (stop === raw.marks.fitted ? "as fitted" : `stop ${stop}`);
  const shownName = () => (state.edits.length ? state.describeEdits() : stopName(state.stop));
  const shownSide = () => ({ name: shownName(), kept: Uint8Array.from(state.kept), numbers: state.numbers, limit: state.limit() });
  const stopSide = (stop) => ({ name: stopName(stop), ...state.previewStop(stop) });

  // The tree as fitted, or the next smaller stop if the fitted tree is the one that is shown.
  function defaultStop() {
    const isFittedShown = state.stop === raw.marks.fitted && !state.edits.length;
    return isFittedShown ? Math.min(stops.leaves.length - 1, state.stop + 1) : raw.marks.fitted;
  }

  // The highest nodes that are internal in one tree only.
  function differences() {
    const nodes = [];
    for (let v = 0; v < tree.n; ) {
      if (state.kept[v] !== other.kept[v]) nodes.push(v);
      v = state.kept[v] && other.kept[v] ? v + 1 : tree.end[v];
    }
    return nodes;
  }

  function draw() {
    other ??= stopSide(defaultStop());
    const sides = [shownSide(), other];
    const nodes = differences();
    const nBranches = formatCount(nodes.length, "branch", "branches");
    const box = { class: "scroll", tabindex: "0", role: "region", "aria-label": "Branches that differ" };
    $("compare").replaceChildren(
      html("div", { class: "bar" }, html("h2", {}, "Two prunings side by side"), controls()),
      html("div", { class: "pair" }, ...sides.map((side, i) => sideDrawing(side, sides[1 - i], i === 0 ? "Shown" : "Compared with"))),
      table(["", "shown", "compared with"], comparedNumbers(sides), { class: "wide" }),
      html("h3", {}, nodes.length ? `Where they differ: ${nBranches}` : "They are the same tree."),
      ...(nodes.length ? [html("div", box, differenceTable(nodes))] : []),
    );
  }

  function controls() {
    const listed = listedStops().map((i) => {
      const name = raw.names[i] || (i === raw.marks.fitted ? "as fitted" : "");
      return html("option", { value: i }, `${formatCount(stops.leaves[i], "leaf", "leaves")}${name ? `, ${name}` : ""}`);
    });
    const select = html("select", { id: "compare-with" }, html("option", { value: "" }, other.name), ...listed);
    select.addEventListener("change", () => {
      if (select.value !== "") other = stopSide(Number(select.value));
      draw();
      $("compare-with").focus();
    });
    const pinShown = () => {
      other = shownSide();
      draw();
    };
    return html("p", { class: "buttons" },
      html("label", { class: "choice" }, "Compare with ", select),
      button("Pin the shown tree", pinShown, { id: "pin" }));
  }

  // All stops; of very many, evenly chosen ones and those with a name.
  function listedStops() {
    const all = stops.leaves.map((_, i) => i);
    if (all.length <= MAX_STOPS_LISTED) return all;
    const step = Math.ceil(all.length / MAX_STOPS_LISTED);
    return all.filter((i) => i % step === 0 || Object.values(raw.marks).includes(i));
  }

  function comparedNumbers(sides) {
    const formatLimit = ({ limit }) => (limit.value === null ? "–" : formatPercent(limit.value, Math.ceil));
    const rows = [["leaves", ...sides.map(({ numbers }) => formatNumber(numbers.leaves.length))]];
    tree.samples.forEach((sample, s) => {
      if (!currency.isError && sides.some(({ numbers }) => numbers.scores[s] !== null)) {
        rows.push([`${sample.name} ${currency.name}`, ...sides.map(({ numbers }) => currency.format(numbers.scores[s]))]);
      }
      const rates = sides.map(({ numbers }) => errors.format(errors.rate(s, numbers.costs[s])));
      rows.push([`${sample.name} ${errors.name}`, ...rates]);
    });
    if (sides.some(({ limit }) => limit.value !== null)) rows.push(["error on new rows at most", ...sides.map(formatLimit)]);
    return rows;
  }

  // The branches that differ, with the difference of their costs.
  function differenceTable(nodes) {
    const cost = errors.isClasses ? "errors" : "squared error";
    const head = ["node", "branch", "leaves shown", "leaves compared", "rows", ...tree.samples.map((sample) => `${sample.name} ${cost}`)];
    const rows = tree.samples[0].total;
    const listed = [...nodes].sort((a, b) => rows[b] - rows[a]).slice(0, MAX_TABLE_ROWS);
    const body = listed.map((v) => {
      const [shown, compared] = [state.kept, other.kept].map((kept) => state.measurePruning(kept, v));
      return [
        button(String(v), () => picture.select(v, { focus: true }), { class: "plain", "aria-label": `Show node ${v}` }),
        html("bdi", { class: "rule" }, words.conditions(v).join(" AND ") || "TRUE"),
        formatNumber(shown.leaves.length),
        formatNumber(compared.leaves.length),
        formatNumber(rows[v]),
        ...tree.samples.map((_, s) => signedNumber(shown.costs[s] - compared.costs[s])),
      ];
    });
    return table(head, body, { class: "wide differing" });
  }

  function signedNumber(value) {
    const sign = { 1: "+", "-1": "−" }[Math.sign(value)] || "±";
    return `${sign}${formatMeasure(Math.abs(value))}`;
  }

  function sideDrawing(side, beside, heading) {
    const nLeaves = formatCount(side.numbers.leaves.length, "leaf", "leaves");
    return html("div", {}, html("h3", {}, `${heading}: ${side.name}, ${nLeaves}`), smallDrawing(side, beside, nLeaves));
  }

  // A drawing of the branches with most rows. Branches that the other tree does not have are thick.
  function smallDrawing(side, beside, nLeaves) {
    const { order, line, nLines, depth } = assignLines(tree, openForDrawing(side, beside));
    const { width, height } = SMALL_DRAWING;
    const x = (v) => 6 + (tree.depth[v] / Math.max(1, depth)) * (width - 16);
    const y = (v) => 4 + ((line.get(v) + 0.5) / nLines) * (height - 8);
    const parts = [];
    for (const v of order) {
      const p = tree.parent[v];
      if (v === 0 || !side.kept[p]) continue;
      const path = `M${x(p).toFixed(1)} ${y(p).toFixed(1)}L${(x(p) + 5).toFixed(1)} ${y(v).toFixed(1)}H${x(v).toFixed(1)}`;
      parts.push(svg("path", { class: beside.kept[p] ? "in-both" : "in-one", d: path }));
    }
    const label = `Drawing of the tree with ${nLeaves}`;
    return svg("svg", { class: "small-tree", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label }, ...parts);
  }

  function openForDrawing(side, beside) {
    const open = new Set();
    let nLines = 1;
    for (const v of tree.byRows) {
      if (nLines > MAX_SMALL_LINES) break;
      const isInternal = side.kept[v] || beside.kept[v];
      if (isInternal && (v === 0 || open.has(tree.parent[v]))) {
        open.add(v);
        nLines += tree.arity[v] - 1;
      }
    }
    return open;
  }

  return draw;
}
