// The Python call that makes what is shown, and what the bar over the tree says of it.

function codeOf(raw, state) {
  function pythonCode() {
    const cuts = state.numbers.cuts;
    const member = raw.stops.member[state.stop];
    const name = raw.names[state.stop] || "";
    let base = raw.code.cuts.replace("CUTS", "");
    if (member >= 0) base = `${raw.code.sequence}[${member}]`;
    else if (name.includes("fitted")) base = raw.code.fitted;
    const chain = base + state.edits.map(({ kind, node }) => `.${kind}(${node})`).join("");
    const lines = [`pruning = ${chain}`];
    const same = raw.code.cuts.replace("CUTS", cuts.join(", "));
    if (cuts.length <= 40 && same !== chain) lines.push(`# or, from its ${count(cuts.length, "cut")}:`, `pruning = ${same}`);
    return lines.join("\n");
  }

  function draw() {
    const edits = state.edits.length;
    const name = raw.names[state.stop] || (raw.marks.fitted === state.stop ? "as fitted" : "");
    $("state").textContent = edits ? `${count(edits, "change")} by hand` : name;
    $("state").classList.toggle("hand", edits > 0);
    $("undo").disabled = !state.past.length;
    $("redo").disabled = !state.future.length;
    $("code").textContent = pythonCode();
  }

  $("copy-code").addEventListener("click", () => copyText(pythonCode(), $("copy-code")));
  state.listeners.push(draw);
  draw();
}

function drawCard(raw) {
  $("card").replaceChildren(...raw.card.map(([title, rows]) => html("div", {},
    html("h3", {}, title),
    html("dl", {}, ...rows.flatMap(([name, text]) => [html("dt", {}, html("bdi", {}, name)), html("dd", {}, html("bdi", {}, text))])),
  )));
}
