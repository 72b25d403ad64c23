// The part "Monitoring": the evidence against the certified limit over the rows that a monitor has counted, and for each
// rule its rows, errors and limit, and its share of the rows then and now.

function createMonitoring(raw, picture) {
  const { monitor } = raw;
  let showsAll = false;
  let isDrawn = false;
  const part = (title, ...content) => html("section", { class: "plot-box" }, html("h3", {}, title), ...content);

  function evidencePlot() {
    if (!monitor.looks.length) return part("Evidence", html("p", { class: "note" }, "No rows have been counted."));
    const lastRow = monitor.looks.at(-1);
    const lowest = Math.min(0, ...monitor.evidence);
    const highest = Math.max(monitor.needed, ...monitor.evidence);
    const lines = [
      { key: "sample-1", points: monitor.looks.map((n, i) => [n, monitor.evidence[i]]) },
      { key: "bound", points: [[0, monitor.needed], [lastRow, monitor.needed]] },
    ];
    const plot = xyPlot({
      title: "Evidence against the limit on the error", x: "rows", y: "evidence", lines,
      min: [0, lowest], max: [lastRow, highest + 0.05 * (highest - lowest)],
      tickText: (value) => formatMeasure(Math.round(value)), tickTextY: (value) => formatMeasure(10 ** value, 2),
    });
    const note = `Dashed: the limit is contradicted at an evidence of ${monitor.needed_text}.`;
    return part("Evidence that the error is above its limit", plot, html("p", { class: "note" }, note));
  }

  function leafRow(leaf) {
    const show = button(String(leaf.node), () => picture.select(leaf.node, { focus: true }), { class: "plain", "aria-label": `Show node ${leaf.node}` });
    const verdict = leaf.is_broken ? html("b", {}, "broken") : leaf.limit ? "not contradicted" : "not tested";
    const share = (rows, all) => (all ? formatPercent(rows / all) : "–");
    return html("tr", { class: leaf.is_broken ? "now" : null },
      html("th", { scope: "row" }, show),
      html("td", { class: "text rule" }, html("bdi", {}, leaf.rule)),
      html("td", {}, formatNumber(leaf.rows)),
      html("td", {}, formatNumber(leaf.errors)),
      html("td", {}, leaf.limit || "–"),
      html("td", {}, leaf.evidence || "–"),
      html("td", { class: "text" }, verdict),
      html("td", {}, share(leaf.before, monitor.n_before)),
      html("td", {}, share(leaf.rows, monitor.n)));
  }

  function ruleTable() {
    const listed = showsAll ? monitor.leaves : monitor.leaves.slice(0, MAX_TABLE_ROWS);
    const names = ["node", "rule", "rows", "errors", "limit", "evidence", "verdict", "share then", "share now"];
    const isText = (name) => name === "rule" || name === "verdict";
    const head = names.map((name) => html("th", { scope: "col", class: isText(name) ? "text" : null }, name));
    const box = { class: "scroll", tabindex: "0", role: "region", "aria-label": "Table of monitored rules" };
    const table = html("table", { id: "monitored-rules" }, html("thead", {}, html("tr", {}, ...head)), html("tbody", {}, ...listed.map(leafRow)));
    const nMore = monitor.leaves.length - listed.length;
    const showAll = () => {
      showsAll = true;
      build();
    };
    const more = nMore > 0 ? [html("p", { class: "buttons" }, button(`Show ${formatCount(nMore, "more rule")}`, showAll))] : [];
    const note = monitor.leaf_note ? [html("p", { class: "note" }, `No rule is tested by itself: ${monitor.leaf_note}.`)] : [];
    return [html("div", box, table), ...more, ...note];
  }

  function build() {
    $("monitoring").replaceChildren(
      html("h2", {}, `Monitoring: ${formatCount(monitor.n, "row")} in ${formatCount(monitor.batches, "batch", "batches")}`),
      html("p", { class: "note", id: "monitor-status" }, monitor.sentence),
      evidencePlot(),
      html("h3", {}, "Rules of the tree as fitted, those with most evidence first"),
      ...ruleTable(),
      html("p", { class: "note", id: "monitor-shares" }, monitor.shares),
    );
    isDrawn = true;
  }

  return () => {
    if (!isDrawn) build();
  };
}
