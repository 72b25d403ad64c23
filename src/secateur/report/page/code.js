// The Python call that makes the shown tree, and the line above the tree that names its state.

const MAX_CUTS_LISTED = 40;

function showPythonCode(raw, state) {
  // The call that returns the pruning of the present stop, without the edits.
  function stopCode() {
    const member = raw.stops.member[state.stop];
    if (member >= 0) return `${raw.code.sequence}[${member}]`;
    const isFitted = (raw.names[state.stop] || "").includes("fitted");
    return isFitted ? raw.code.fitted : raw.code.cuts.replace("CUTS", "");
  }

  function pythonCode() {
    const { cuts } = state.numbers;
    const isTaken = state.edits[0]?.kind === "take";
    const byHand = isTaken ? state.edits.slice(1) : state.edits;
    const start = isTaken ? state.edits[0].code : stopCode();
    const code = start + byHand.map(({ kind, node }) => `.${kind}(${node})`).join("");
    const codeFromCuts = raw.code.cuts.replace("CUTS", cuts.join(", "));
    const lines = [`pruning = ${code}`];
    if (cuts.length <= MAX_CUTS_LISTED && codeFromCuts !== code) {
      lines.push(`# or, from its ${formatCount(cuts.length, "cut")}:`, `pruning = ${codeFromCuts}`);
    }
    return lines.join("\n");
  }

  function draw() {
    const nEdits = state.edits.length;
    const stopName = raw.names[state.stop] || (raw.marks.fitted === state.stop ? "as fitted" : "");
    $("state").textContent = nEdits ? state.describeEdits() : stopName;
    $("state").classList.toggle("by-hand", nEdits > 0);
    $("undo").disabled = !state.past.length;
    $("redo").disabled = !state.future.length;
    $("code").textContent = pythonCode();
  }

  $("copy-code").addEventListener("click", () => copyText(pythonCode(), $("copy-code")));
  state.listeners.push(draw);
  draw();
}

function drawCard(raw) {
  const entry = ([name, text]) => [html("dt", {}, html("bdi", {}, name)), html("dd", {}, html("bdi", {}, text))];
  const section = ([title, entries]) => html("div", {}, html("h3", {}, title), html("dl", {}, ...entries.flatMap(entry)));
  $("card").replaceChildren(...raw.card.map(section));
}
