// The part "Rules": the leaves as a table of rules that can be sorted.

const MAX_TABLE_ROWS = 60; // until the button for more is pressed

function createRules(raw, tree, state, words, errors, picture) {
  let order = { key: "rows", isAscending: false };
  let showsAll = false;
  const { isClasses } = errors;
  const leafRate = (s, v) => errors.rate(s, tree.samples[s].cost[v], v);
  const rowsOf = (v) => tree.samples[0].total[v];
  const columns = [
    { key: "node", name: "node", sortValue: (v) => v },
    { key: "rule", name: "rule", sortValue: null },
    { key: "prediction", name: "prediction", sortValue: (v) => (isClasses ? tree.labels[v] : tree.samples[0].mean[v]) },
    { key: "rows", name: "rows", sortValue: rowsOf },
    { key: "cover", name: "cover", sortValue: rowsOf },
    ...tree.samples.map((sample, s) => ({ key: `error-${s}`, name: `${sample.name} ${errors.name}`, sortValue: (v) => leafRate(s, v) ?? -1 })),
  ];

  function draw() {
    const { sortValue } = columns.find(({ key }) => key === order.key);
    const sign = order.isAscending ? 1 : -1;
    const leaves = [...state.numbers.leaves].sort((a, b) => sign * (sortValue(a) - sortValue(b)) || a - b);
    const listed = showsAll ? leaves : leaves.slice(0, MAX_TABLE_ROWS);
    $("rules").replaceChildren(
      html("thead", {}, html("tr", {}, ...columns.map(headCell), html("td", { class: "act" }))),
      html("tbody", {}, ...listed.map(ruleRow)),
    );
    const nMore = leaves.length - listed.length;
    const showAll = () => {
      showsAll = true;
      draw();
    };
    $("rules-more").replaceChildren(...(nMore > 0 ? [button(`Show ${formatCount(nMore, "more rule")}`, showAll)] : []));
  }

  // The head of a column; a click sorts by it, a second click reverses the order.
  function headCell({ key, name, sortValue }) {
    if (!sortValue) return html("th", { scope: "col", class: "text" }, name);
    const isSorted = key === order.key;
    const sortByThis = () => {
      const startsAscending = key === "node" || key === "prediction";
      order = { key, isAscending: isSorted ? !order.isAscending : startsAscending };
      draw();
      $("rules").querySelector(`[data-key="${key}"]`)?.focus();
    };
    const text = isSorted ? `${name} ${order.isAscending ? "▲" : "▼"}` : name;
    const direction = order.isAscending ? "ascending" : "descending";
    const sortButton = button(text, sortByThis, { class: "plain", "data-key": key });
    return html("th", { scope: "col", "aria-sort": isSorted ? direction : null }, sortButton);
  }

  function ruleRow(v) {
    const show = button(String(v), () => picture.select(v, { focus: true }), { class: "plain", "aria-label": `Show node ${v}` });
    const prediction = html("span", { class: "class-name" }, isClasses ? swatch(tree.labels[v]) : null, html("bdi", {}, words.predictionLabel(v)));
    return html("tr", {},
      html("th", { scope: "row" }, show),
      html("td", { class: "text rule" }, html("bdi", {}, words.conditions(v).join(" AND ") || "TRUE")),
      html("td", { class: "text" }, prediction),
      html("td", {}, formatNumber(rowsOf(v))),
      html("td", {}, formatPercent(rowsOf(v) / (rowsOf(0) || 1))),
      ...tree.samples.map((_, s) => html("td", {}, errors.format(leafRate(s, v)))),
      html("td", { class: "act" }, copyButton(() => words.ruleText(v), "Copy", `Copy the rule of node ${v}`)),
    );
  }

  $("copy-rules").addEventListener("click", () => copyText(state.numbers.leaves.map(words.ruleText).join("\n"), $("copy-rules")));
  $("print-rules").addEventListener("click", () => {
    document.body.classList.add("rules-only");
    window.addEventListener("afterprint", () => document.body.classList.remove("rules-only"), { once: true });
    window.print();
  });
  return draw;
}
