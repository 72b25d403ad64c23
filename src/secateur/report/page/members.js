// The part "All prunings": the stops of the slider as a table.

const N_SAMPLED_STOPS = 40; // listed of very many stops, in addition to those with a name

function createMembers(raw, tree, state, errors, currency) {
  let showsAll = false;
  let isDrawn = false;
  const stops = raw.stops;

  // The stops to list. Of very many: the ends, those with a name, and others at equal distances on the log axis.
  function listedStops() {
    const n = stops.leaves.length;
    if (showsAll || n <= MAX_TABLE_ROWS) return Array.from({ length: n }, (_, i) => i);
    const listed = new Set([0, n - 1, ...Object.values(raw.marks), ...Object.keys(raw.names).map(Number)]);
    for (let i = 0; i < N_SAMPLED_STOPS; i++) {
      const nFromEnd = Math.round(n ** (i / (N_SAMPLED_STOPS - 1)));
      listed.add(n - 1 - Math.min(n - 1, nFromEnd - 1));
    }
    return [...listed].sort((a, b) => a - b);
  }

  function build() {
    const listed = listedStops();
    const head = columnNames().map((name) => html("th", { scope: "col" }, name));
    $("members").replaceChildren(
      html("thead", {}, html("tr", {}, ...head, html("td", {}))),
      html("tbody", {}, ...listed.map(stopRow)),
    );
    const nMore = stops.leaves.length - listed.length;
    const showAll = () => {
      showsAll = true;
      build();
      markCurrent();
    };
    $("members-more").replaceChildren(...(nMore > 0 ? [button(`Show ${formatCount(nMore, "more pruning")}`, showAll)] : []));
    $("members-note").textContent = notes().join(" ");
    isDrawn = true;
  }

  function columnNames() {
    const names = ["leaves"];
    if (stops.alpha) names.push("alpha");
    if (stops.scores) names.push(...tree.samples.filter((_, s) => stops.scores[s]).map((sample) => `${sample.name} ${currency.name}`));
    if (stops.cv) names.push(`${sourceOfScores()} ${currency.isError ? "" : `${currency.name} `}± SE`);
    names.push(...tree.samples.map((sample) => `${sample.name} ${errors.name}`));
    if (stops.bound) names.push("certified limit of the error");
    return names;
  }

  const sourceOfScores = () => tree.samples.find((sample) => sample.sample === stops.cv_name)?.name || stops.cv_name;

  function stopRow(i) {
    const cells = [];
    if (stops.alpha) cells.push(formatNumber(stops.alpha[i]));
    if (stops.scores) cells.push(...stops.scores.filter((column) => column).map((column) => currency.format(column[i])));
    if (stops.cv) cells.push(crossValidatedText(i));
    tree.samples.forEach((_, s) => cells.push(errors.format(errors.rate(s, stops.errors[s][i]))));
    if (stops.bound) cells.push(stops.bound[i] === null ? "–" : formatPercent(stops.bound[i], Math.ceil));
    const label = `Show the tree with ${formatCount(stops.leaves[i], "leaf", "leaves")}`;
    const show = button(formatNumber(stops.leaves[i]), () => state.goTo(i), { class: "plain", "aria-label": label });
    return html("tr", { "data-stop": i },
      html("th", { scope: "row" }, show),
      ...cells.map((cell) => html("td", {}, cell)),
      html("td", { class: "text" }, stopNames(i).join(", ")));
  }

  function crossValidatedText(i) {
    if (stops.cv[i] === null) return "–";
    return `${currency.format(stops.cv[i])} ± ${currency.formatStandardError(stops.cv[i], stops.se[i])}`;
  }

  function stopNames(i) {
    const names = { fitted: "as fitted", best: `least ${currency.name}`, one_se: "within 1 SE" };
    const marks = Object.entries(names).filter(([key]) => raw.marks[key] === i).map(([, name]) => name);
    return marks.length || !raw.names[i] ? marks : [raw.names[i]];
  }

  function notes() {
    const texts = [];
    if (stops.bound) {
      texts.push(
        `Certified limit: with ${raw.confidence} confidence all of these limits hold at once, so the choice among ` +
        "the prunings is paid for; a tree that is cut by hand is not among them.");
    }
    if (!raw.is_own_sequence) {
      const cost = raw.kind === "classes" ? "errors" : "squared errors";
      texts.push(`The model came without a sequence: these are the cost-complexity prunings of the growing sample by its ${cost}, made for the slider.`);
    }
    return texts;
  }

  function markCurrent() {
    for (const row of $("members").querySelectorAll("tr[data-stop]")) {
      const isCurrent = !state.edits.length && Number(row.dataset.stop) === state.stop;
      row.classList.toggle("now", isCurrent);
      if (isCurrent) row.setAttribute("aria-current", "true");
      else row.removeAttribute("aria-current");
    }
  }

  return () => {
    if (!isDrawn) build();
    markCurrent();
  };
}
