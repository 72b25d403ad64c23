// The stops of the slider as a table.

function membersOf(raw, tree, state, errors) {
  let showsAll = false;
  let isDrawn = false;
  const stops = raw.stops;

  // With very many stops: the ends, what has a name, and others evenly on the axis.
  function listed() {
    const n = stops.leaves.length;
    if (showsAll || n <= MOST_ROWS) return Array.from({ length: n }, (_, i) => i);
    const found = new Set([0, n - 1, ...Object.values(raw.marks), ...Object.keys(raw.names).map(Number)]);
    for (let i = 0; i < 40; i++) found.add(n - 1 - Math.min(n - 1, Math.round(n ** (i / 39)) - 1));
    return [...found].sort((a, b) => a - b);
  }

  function build() {
    const names = { fitted: "as fitted", best: "least error", one_se: "within 1 SE" };
    const head = ["leaves"];
    if (stops.alpha) head.push("alpha");
    head.push(...tree.samples.map((sample) => `${sample.name} ${errors.name}`));
    if (stops.cv) head.push(`${stops.cv_name} ± SE`);
    if (stops.bound) head.push("certified limit");
    const rows = listed();
    const body = rows.map((i) => {
      const cells = [];
      if (stops.alpha) cells.push(number(stops.alpha[i]));
      tree.samples.forEach((sample, s) => cells.push(errors.shown(errors.rate(s, stops.errors[s][i]))));
      if (stops.cv) cells.push(stops.cv[i] === null ? "–" : `${errors.shown(stops.cv[i])} ± ${errors.spread(stops.cv[i], stops.se[i])}`);
      if (stops.bound) cells.push(stops.bound[i] === null ? "–" : percent(stops.bound[i], Math.ceil));
      const marks = Object.entries(names).filter(([key]) => raw.marks[key] === i).map(([, name]) => name);
      if (raw.names[i] && !marks.length) marks.push(raw.names[i]);
      return html("tr", { "data-stop": i },
        html("th", { scope: "row" }, button(number(stops.leaves[i]), () => state.goTo(i), { class: "plain", "aria-label": `Show the tree with ${count(stops.leaves[i], "leaf", "leaves")}` })),
        ...cells.map((cell) => html("td", {}, cell)), html("td", { class: "text" }, marks.join(", ")));
    });
    $("members").replaceChildren(
      html("thead", {}, html("tr", {}, ...head.map((name) => html("th", { scope: "col" }, name)), html("td", {}))),
      html("tbody", {}, ...body),
    );
    const more = stops.leaves.length - rows.length;
    $("members-more").replaceChildren(...(more > 0 ? [button(`Show ${count(more, "more pruning")}`, () => {
      showsAll = true;
      build();
      mark();
    })] : []));
    const notes = [];
    if (stops.bound) notes.push(`Certified limit: with ${100 * (1 - raw.delta)} % confidence all of them hold at once, so the choice among them is paid for; a tree cut by hand is not among them.`);
    if (!raw.is_own_sequence) notes.push("The model came without a sequence: these are the cost-complexity prunings of the growing sample, made for the slider.");
    $("members-note").textContent = notes.join(" ");
    isDrawn = true;
  }

  function mark() {
    for (const row of $("members").querySelectorAll("tr[data-stop]")) {
      const isNow = !state.edits.length && Number(row.dataset.stop) === state.stop;
      row.classList.toggle("now", isNow);
      if (isNow) row.setAttribute("aria-current", "true");
      else row.removeAttribute("aria-current");
    }
  }

  return () => {
    if (!isDrawn) build();
    mark();
  };
}
