// Below the picture: leaves as rules, the stops of the slider, the model card, the Python call.

const MOST_ROWS = 60;

function tablesOf(raw, tree, state, words, picture) {
  let order = { by: "rows", up: false };
  let showsAll = false;
  let showsAllStops = false;
  const isClasses = raw.kind === "classes";
  const rate = (s, v) => (tree.samples[s].total[v] ? tree.samples[s].cost[v] / tree.samples[s].total[v] : null);
  const shown = (value) => (isClasses ? percent(value) : number(value));
  const columns = [
    { key: "node", name: "node", of: (v) => v },
    { key: "rule", name: "rule", of: null },
    { key: "answer", name: "answer", of: (v) => (isClasses ? tree.labels[v] : tree.samples[0].mean[v]) },
    { key: "rows", name: "rows", of: (v) => tree.samples[0].total[v] },
    { key: "cover", name: "cover", of: (v) => tree.samples[0].total[v] },
    ...tree.samples.map((sample, s) => ({ key: `error-${s}`, name: `${sample.name} ${isClasses ? "error" : "sq. error"}`, of: (v) => rate(s, v) ?? -1 })),
  ];

  function drawRules() {
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
          drawRules();
          $("rules").querySelector(`[data-key="${key}"]`)?.focus();
        }, { class: "plain", "data-key": key }));
    });
    const all = tree.samples[0].total[0] || 1;
    const body = listed.map((v) => html("tr", {},
      html("th", { scope: "row" }, button(String(v), () => picture.select(v, { focus: true }), { class: "plain", "aria-label": `Show node ${v}` })),
      html("td", { class: "text rule" }, html("bdi", {}, words.conditions(v).join(" AND ") || "TRUE")),
      html("td", { class: "text" }, html("span", { class: "class-name" }, isClasses ? swatch(tree.labels[v]) : null, html("bdi", {}, words.answer(v)))),
      html("td", {}, number(tree.samples[0].total[v])),
      html("td", {}, percent(tree.samples[0].total[v] / all)),
      ...tree.samples.map((sample, s) => html("td", {}, shown(rate(s, v)))),
      html("td", {}, copier(() => words.rule(v), "Copy", `Copy the rule of node ${v}`)),
    ));
    $("rules").replaceChildren(
      html("thead", {}, html("tr", {}, ...head, html("td", {}))),
      html("tbody", {}, ...body),
    );
    const more = leaves.length - listed.length;
    $("rules-more").replaceChildren(...(more > 0 ? [button(`Show ${count(more, "more rule")}`, () => {
      showsAll = true;
      drawRules();
    })] : []));
  }

  // With very many stops: the ends, what has a name, and others evenly on the axis.
  function listedStops() {
    const n = raw.stops.leaves.length;
    if (showsAllStops || n <= MOST_ROWS) return Array.from({ length: n }, (_, i) => i);
    const found = new Set([0, n - 1, ...Object.values(raw.marks), ...Object.keys(raw.names).map(Number)]);
    for (let i = 0; i < 40; i++) found.add(n - 1 - Math.min(n - 1, Math.round(n ** (i / 39)) - 1));
    return [...found].sort((a, b) => a - b);
  }

  function drawMembers() {
    const stops = raw.stops;
    const names = { fitted: "as fitted", best: "least error", one_se: "within 1 SE" };
    const head = ["leaves"];
    if (stops.alpha) head.push("alpha");
    head.push(...tree.samples.map((sample) => `${sample.name} ${isClasses ? "error" : "sq. error"}`));
    if (stops.cv) head.push(`${stops.cv_name} ± SE`);
    if (stops.bound) head.push("certified limit");
    const listed = listedStops();
    const body = listed.map((i) => {
      const cells = [];
      if (stops.alpha) cells.push(number(stops.alpha[i]));
      tree.samples.forEach((sample, s) => cells.push(shown(stops.errors[s][i] / (sample.total[0] || 1))));
      if (stops.cv) cells.push(stops.cv[i] === null ? "–" : `${shown(stops.cv[i])} ± ${shown(stops.se[i])}`);
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
    const more = stops.leaves.length - listed.length;
    $("members-more").replaceChildren(...(more > 0 ? [button(`Show ${count(more, "more pruning")}`, () => {
      showsAllStops = true;
      drawMembers();
      markMember();
    })] : []));
    $("members").parentNode.parentNode.querySelector(".note")?.remove();
    const notes = [];
    if (stops.bound) notes.push(`Certified limit: with ${100 * (1 - raw.limit.delta)} % confidence all of them hold at once, so the choice among them is paid for; a tree cut by hand is not among them.`);
    if (!raw.is_own_sequence) notes.push("The model came without a sequence: these are the cost-complexity prunings of the growing sample, made for the slider.");
    if (notes.length) $("members-more").after(html("p", { class: "note" }, notes.join(" ")));
  }

  function markMember() {
    for (const row of $("members").querySelectorAll("tr[data-stop]")) {
      const isNow = !state.edits.length && Number(row.dataset.stop) === state.stop;
      row.classList.toggle("now", isNow);
      if (isNow) row.setAttribute("aria-current", "true");
      else row.removeAttribute("aria-current");
    }
  }

  // The call that makes what is shown.
  function pythonCode() {
    const cuts = state.numbers.cuts;
    const member = raw.stops.member[state.stop];
    const name = raw.names[state.stop] || "";
    let base = raw.code.cuts.replace("CUTS", "");
    if (member >= 0) base = `${raw.code.sequence}[${member}]`;
    else if (name.includes("fitted")) base = raw.code.fitted;
    const chain = base + state.edits.map(({ kind, node }) => `.${kind}(${node})`).join("");
    const lines = [`pruning = ${chain}`];
    if (cuts.length <= 40) lines.push(`# or, from its ${count(cuts.length, "cut")}:`, `pruning = ${raw.code.cuts.replace("CUTS", cuts.join(", "))}`);
    return lines.join("\n");
  }

  function drawState() {
    const edits = state.edits.length;
    const name = raw.names[state.stop] || (raw.marks.fitted === state.stop ? "as fitted" : "");
    $("state").textContent = edits ? `${count(edits, "change")} by hand` : name;
    $("state").classList.toggle("hand", edits > 0);
    $("undo").disabled = !state.past.length;
    $("redo").disabled = !state.future.length;
    $("code").textContent = pythonCode();
  }

  function drawCard() {
    $("card").replaceChildren(...raw.card.map(([title, rows]) => html("div", {},
      html("h3", {}, title),
      html("dl", {}, ...rows.flatMap(([name, text]) => [html("dt", {}, html("bdi", {}, name)), html("dd", {}, html("bdi", {}, text))])),
    )));
  }

  $("copy-code").addEventListener("click", () => copyText(pythonCode(), $("copy-code")));
  $("copy-rules").addEventListener("click", () => copyText(state.numbers.leaves.map(words.rule).join("\n"), $("copy-rules")));
  drawMembers();
  drawCard();
  drawRules();
  markMember();
  drawState();
  // The long table waits until the slider rests.
  let resting = 0;
  state.listeners.push(() => {
    clearTimeout(resting);
    resting = setTimeout(drawRules, 120);
    markMember();
    drawState();
  });
}
