// Read the data, build the parts, and connect what belongs to no part.

const raw = JSON.parse($("data").textContent);
const tree = unfold(raw);
const words = wordsOf(raw, tree);
const state = stateOf(raw, tree);
$("app").hidden = false;
const errors = errorsOf(raw, tree);
const picture = pictureOf(raw, tree, state, words);
chartOf(raw, tree, state, errors);
codeOf(raw, state);
drawCard(raw);
const drawNode = panelOf(raw, tree, state, words, errors, picture);
const routes = routesOf(raw, tree, state);
const canRoute = tree.feature.some((j) => j >= 0);
const whatIf = canRoute ? whatIfOf(raw, tree, state, words, errors, picture, routes) : null;
const tabs = tabsOf(state, [
  { id: "node", name: "Node", draw: drawNode, isQuick: true },
  { id: "what-if", name: "What if", draw: whatIf, leave: whatIf?.leave },
  { id: "judge", name: "Judge", draw: judgeOf(raw, tree, state, words, errors, picture) },
  { id: "compare", name: "Compare", draw: compareOf(raw, tree, state, words, errors, picture) },
  { id: "say", name: "Say it", draw: sayOf(raw, tree, state, words, errors, picture) },
  { id: "rules-part", name: "Rules", draw: rulesOf(raw, tree, state, words, errors, picture) },
  { id: "members-part", name: "All prunings", draw: membersOf(raw, tree, state, errors), isQuick: true },
  { id: "card-part", name: "Model card" },
].filter(({ id }) => canRoute || id !== "what-if"));
picture.onSelect(() => (tabs.isOpen("node") ? drawNode() : null));

function drawClasses() {
  const box = $("classes");
  if (raw.kind !== "classes") {
    box.replaceChildren(html("li", {}, `Answers from ${figure(Math.min(...tree.samples[0].mean))} (blue) to ${figure(Math.max(...tree.samples[0].mean))} (orange)`));
    return;
  }
  const listed = raw.classes.slice(0, 40);
  box.replaceChildren(...listed.map((name, c) => html("li", { title: name }, swatch(c), html("bdi", {}, clipped(name, 220)))));
  if (raw.classes.length > listed.length) box.append(html("li", {}, `and ${number(raw.classes.length - listed.length)} more`));
}

// What the marks in the picture mean, with an example of each.
function drawMarks() {
  const mark = (width, ...parts) => svg("svg", { class: "key", width, height: 16, viewBox: `-12 -8 ${width} 16`, "aria-hidden": "true" }, ...parts);
  const pill = [svg("rect", { class: "pill", x: -11, y: -7, width: 22, height: 14, rx: 7, stroke: "currentColor" }), svg("text", { class: "tick", x: -6, y: 4 }, "+3")];
  $("marks").replaceChildren(
    html("li", {}, mark(16, cutMark(8)), "cut here: leaves below it went"),
    html("li", {}, mark(26, ...pill), "folded branch; click to open"),
    html("li", {}, html("b", {}, errors.isClasses ? "160 · 14.2 %" : "52.3 160"), errors.isClasses ? "growing rows in the leaf, share of them with another class" : "answer of the leaf, growing rows in it"),
    html("li", {}, errors.isClasses ? "bar: shares of the classes" : "bar: the answer, from lowest to highest"),
  );
}

let atHit = -1;
function search(event) {
  const hits = picture.find($("search").value);
  if (event.type === "input") atHit = -1;
  const isAsked = $("search").value.trim() !== "";
  $("found").textContent = isAsked ? (hits.length ? count(hits.length, "test") : "not tested here") : "";
  if (event.key === "Enter" && hits.length) {
    atHit = (atHit + 1) % hits.length;
    picture.select(hits[atHit], { reveal: true });
    $("found").textContent = `${atHit + 1} of ${hits.length}`;
    event.preventDefault();
  } else if (event.key === "Escape") {
    $("search").value = "";
    $("found").textContent = "";
    picture.find("");
  }
}

const names = [...new Set(Array.from(tree.feature).filter((j) => j >= 0))].map((j) => raw.columns[j].name).sort();
$("names").append(...names.slice(0, 500).map((name) => html("option", { value: name })));
$("search").addEventListener("input", search);
$("search").addEventListener("keydown", search);
state.listeners.push(() => $("search").value.trim() && search({ type: "state" }));

$("undo").addEventListener("click", () => state.undo());
$("redo").addEventListener("click", () => state.redo());
$("fold").addEventListener("click", () => picture.refine(0.5));
$("unfold").addEventListener("click", () => picture.refine(2));
picture.onDraw(() => {
  const n = picture.nFolded();
  $("folded").textContent = n ? `${count(n, "leaf", "leaves")} folded away` : "";
});
picture.draw({ glide: false });
$("smaller").addEventListener("click", () => picture.view.zoom(1 / 1.25));
$("larger").addEventListener("click", () => picture.view.zoom(1.25));
$("fit").addEventListener("click", () => picture.view.fit());
document.addEventListener("keydown", (event) => {
  if (!(event.ctrlKey || event.metaKey) || event.altKey || event.target.matches?.("input[type=search]")) return;
  const key = event.key.toLowerCase();
  const isBack = key === "z" && !event.shiftKey;
  if (!isBack && key !== "y" && key !== "z") return;
  if (isBack ? state.undo() : state.redo()) event.preventDefault();
});
drawClasses();
drawMarks();
// For those who script the page, and for our tests.
window.secateur = { raw, tree, state, words, errors, picture, tabs, routes, whatIf,
  numbers: { confusionOf, rankedOf, curvesOf, importancesOf, shareLimits, sqlOf } };
