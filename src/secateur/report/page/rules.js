// The leaves as a table of rules.

const MOST_ROWS = 60;

function rulesOf(raw, tree, state, words, errors, picture) {
  let order = { by: "rows", up: false };
  let showsAll = false;
  const { isClasses } = errors;
  const leafRate = (s, v) => errors.rate(s, tree.samples[s].cost[v], v);
  const columns = [
    { key: "node", name: "node", of: (v) => v },
    { key: "rule", name: "rule", of: null },
    { key: "answer", name: "answer", of: (v) => (isClasses ? tree.labels[v] : tree.samples[0].mean[v]) },
    { key: "rows", name: "rows", of: (v) => tree.samples[0].total[v] },
    { key: "cover", name: "cover", of: (v) => tree.samples[0].total[v] },
    ...tree.samples.map((sample, s) => ({ key: `error-${s}`, name: `${sample.name} ${errors.name}`, of: (v) => leafRate(s, v) ?? -1 })),
  ];

  function draw() {
    const column = columns.find(({ key }) => key === order.by);
    const sign = order.up ? 1 : -1;
    const leaves = [...state.numbers.leaves].sort((a, b) => sign * (column.of(a) - column.of(b)) || a - b);
    const listed = showsAll ? leaves : leaves.slice(0, MOST_ROWS);
    const head = columns.map(({ key, name, of }) => {
      const isBy = key === order.by;
      if (!of) return html("th", { scope: "col", class: "text" }, name);
      return html("th", { scope: "col", "aria-sort": isBy ? (order.up ? "ascending" : "descending") : null },
        button(isBy ? `${name} ${order.up ? "▲" : "▼"}` : name, () => {
          order = { by: key, up: isBy ? !order.up : key === "node" || key === "answer" };
          draw();
          $("rules").querySelector(`[data-key="${key}"]`)?.focus();
        }, { class: "plain", "data-key": key }));
    });
    const all = tree.samples[0].total[0] || 1;
    const body = listed.map((v) => html("tr", {},
      html("th", { scope: "row" }, button(String(v), () => picture.select(v, { focus: true }), { class: "plain", "aria-label": `Show node ${v}` })),
      html("td", { class: "text rule" }, html("bdi", {}, words.conditions(v).join(" AND ") || "TRUE")),
      html("td", { class: "text" }, html("span", { class: "class-name" }, isClasses ? swatch(tree.labels[v]) : null, html("bdi", {}, words.answerShort(v)))),
      html("td", {}, number(tree.samples[0].total[v])),
      html("td", {}, percent(tree.samples[0].total[v] / all)),
      ...tree.samples.map((sample, s) => html("td", {}, errors.shown(leafRate(s, v)))),
      html("td", { class: "act" }, copier(() => words.rule(v), "Copy", `Copy the rule of node ${v}`)),
    ));
    $("rules").replaceChildren(
      html("thead", {}, html("tr", {}, ...head, html("td", { class: "act" }))),
      html("tbody", {}, ...body),
    );
    const more = leaves.length - listed.length;
    $("rules-more").replaceChildren(...(more > 0 ? [button(`Show ${count(more, "more rule")}`, () => {
      showsAll = true;
      draw();
    })] : []));
  }

  $("copy-rules").addEventListener("click", () => copyText(state.numbers.leaves.map(words.rule).join("\n"), $("copy-rules")));
  $("print-rules").addEventListener("click", () => {
    document.body.classList.add("rules-only");
    window.addEventListener("afterprint", () => document.body.classList.remove("rules-only"), { once: true });
    window.print();
  });
  return draw;
}
