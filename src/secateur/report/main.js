// Read the data, build the parts, and connect what belongs to no part.

const raw = JSON.parse($("data").textContent);
const tree = unfold(raw);
const words = wordsOf(raw, tree);
const state = stateOf(raw, tree);
$("app").hidden = false;
const picture = pictureOf(raw, tree, state, words);
chartOf(raw, tree, state);
panelOf(raw, tree, state, words, picture);
tablesOf(raw, tree, state, words, picture);

function drawClasses() {
  const box = $("classes");
  if (raw.kind !== "classes") {
    box.replaceChildren(html("li", {}, "Answers from low (blue) to high (orange)"));
    return;
  }
  const listed = raw.classes.slice(0, 40);
  box.replaceChildren(...listed.map((name, c) => html("li", { title: name }, swatch(c), html("bdi", {}, clipped(name, 220)))));
  if (raw.classes.length > listed.length) box.append(html("li", {}, `and ${number(raw.classes.length - listed.length)} more`));
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
$("smaller").addEventListener("click", () => picture.resize(1 / 1.25));
$("larger").addEventListener("click", () => picture.resize(1.25));
document.addEventListener("keydown", (event) => {
  if (!(event.ctrlKey || event.metaKey) || event.altKey || event.target.matches?.("input[type=search]")) return;
  const key = event.key.toLowerCase();
  const isBack = key === "z" && !event.shiftKey;
  if (!isBack && key !== "y" && key !== "z") return;
  if (isBack ? state.undo() : state.redo()) event.preventDefault();
});
drawClasses();
// For those who script the page, and for our tests.
window.secateur = { raw, tree, state, words, picture };
