// Compare: the shown tree beside another pruning, what one has and the other has not, and what that costs.

function compareOf(raw, tree, state, words, errors, picture) {
  let other = null; // { name, kept, numbers, limit }
  const stops = raw.stops;

  const pinned = (name) => ({ name, kept: Uint8Array.from(state.kept), numbers: state.numbers, limit: state.limit() });
  const nameNow = () => (state.edits.length ? `${count(state.edits.length, "change")} by hand` : raw.names[state.stop] || (state.stop === raw.marks.fitted ? "as fitted" : `stop ${state.stop}`));

  function pinStop(stop) {
    other = { name: raw.names[stop] || (stop === raw.marks.fitted ? "as fitted" : `stop ${stop}`), ...state.peek(stop) };
  }

  // The highest nodes at which one tree tests and the other does not.
  function differences() {
    const found = [];
    for (let v = 0; v < tree.n; ) {
      if (state.kept[v] !== other.kept[v]) found.push(v);
      v = state.kept[v] && other.kept[v] ? v + 1 : tree.end[v];
    }
    return found;
  }

  function draw() {
    if (!other) pinStop(raw.marks.fitted !== state.stop || state.edits.length ? raw.marks.fitted : Math.min(stops.leaves.length - 1, state.stop + 1));
    const listed = stops.leaves.length <= 200 ? stops.leaves.map((_, i) => i) : stops.leaves.map((_, i) => i).filter((i) => i % Math.ceil(stops.leaves.length / 200) === 0 || Object.values(raw.marks).includes(i));
    const pick = html("select", { id: "compare-with" }, html("option", { value: "" }, other.name), ...listed.map((i) => html("option", { value: i }, `${count(stops.leaves[i], "leaf", "leaves")}${raw.names[i] ? `, ${raw.names[i]}` : i === raw.marks.fitted ? ", as fitted" : ""}`)));
    pick.addEventListener("change", () => {
      if (pick.value !== "") pinStop(Number(pick.value));
      draw();
      $("compare-with").focus();
    });
    const sides = [{ name: nameNow(), kept: state.kept, numbers: state.numbers, limit: state.limit() }, other];
    const rate = (s, cost) => errors.shown(errors.rate(s, cost));
    const limit = (side) => (side.limit?.value === null || side.limit?.value === undefined ? "–" : percent(side.limit.value, Math.ceil));
    const rows = [
      ["leaves", ...sides.map((side) => number(side.numbers.leaves.length))],
      ...tree.samples.map((sample, s) => [`${sample.name} ${errors.name}`, ...sides.map((side) => rate(s, side.numbers.costs[s]))]),
      ...(sides.some((side) => side.limit?.value != null) ? [["error on new rows at most", ...sides.map(limit)]] : []),
    ];
    const found = differences();
    $("compare").replaceChildren(
      html("div", { class: "bar" }, html("h2", {}, "Two prunings side by side"), html("p", { class: "buttons" },
        html("label", { class: "choice" }, "Compare with ", pick),
        button("Pin the shown tree", () => {
          other = pinned(nameNow());
          draw();
        }, { id: "pin" }))),
      html("div", { class: "pair" }, ...sides.map((side, i) => html("div", {}, html("h3", {}, `${i ? "Compared with" : "Shown"}: ${side.name}, ${count(side.numbers.leaves.length, "leaf", "leaves")}`), small(side, sides[1 - i])))),
      table(["", "shown", "compared with"], rows, { class: "wide" }),
      html("h3", {}, found.length ? `Where they differ: ${count(found.length, "branch", "branches")}` : "They are the same tree."),
      ...(found.length ? [html("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Branches that differ" }, differing(found))] : []),
    );
  }

  function differing(found) {
    const head = ["node", "branch", "leaves shown", "leaves compared", "rows", ...tree.samples.map((sample) => (errors.isClasses ? `${sample.name} errors` : `${sample.name} squared error`))];
    const gain = (v, s) => {
      const here = state.numbersOf(state.kept, v).costs[s] - state.numbersOf(other.kept, v).costs[s];
      return `${here > 0 ? "+" : here < 0 ? "−" : "±"}${figure(Math.abs(here))}`;
    };
    const byRows = [...found].sort((a, b) => tree.samples[0].total[b] - tree.samples[0].total[a]).slice(0, MOST_ROWS);
    return table(head, byRows.map((v) => [
      button(String(v), () => picture.select(v, { focus: true }), { class: "plain", "aria-label": `Show node ${v}` }),
      html("bdi", { class: "rule" }, words.conditions(v).join(" AND ") || "TRUE"),
      number(state.numbersOf(state.kept, v).leaves.length), number(state.numbersOf(other.kept, v).leaves.length), number(tree.samples[0].total[v]),
      ...tree.samples.map((_, s) => gain(v, s)),
    ]), { class: "wide differing" });
  }

  // A drawing of a few hundred leaves at most; what the other tree has not is thick.
  function small(side, beside) {
    const open = new Set();
    let lines = 1;
    for (const v of tree.byRows) {
      if (lines > 220) break;
      if ((side.kept[v] || beside.kept[v]) && (v === 0 || open.has(tree.parent[v]))) {
        open.add(v);
        lines += tree.arity[v] - 1;
      }
    }
    const { order, line, nLines, depth } = linesOf(tree, open);
    const size = { width: 360, height: 220 };
    const x = (v) => 6 + (tree.depth[v] / Math.max(1, depth)) * (size.width - 16);
    const y = (v) => 4 + ((line.get(v) + 0.5) / nLines) * (size.height - 8);
    const parts = [];
    for (const v of order) {
      const p = tree.parent[v];
      if (v === 0 || !side.kept[p]) continue;
      const isOnly = !beside.kept[p];
      parts.push(svg("path", { class: isOnly ? "only" : "both", d: `M${x(p).toFixed(1)} ${y(p).toFixed(1)}L${(x(p) + 5).toFixed(1)} ${y(v).toFixed(1)}H${x(v).toFixed(1)}` }));
    }
    return svg("svg", { class: "small", viewBox: `0 0 ${size.width} ${size.height}`, role: "img", "aria-label": `Drawing of the tree with ${count(side.numbers.leaves.length, "leaf", "leaves")}` }, ...parts);
  }

  return draw;
}
