// The parts under the tree. Only the one that is open is drawn when the tree changes, once the slider rests.

function tabsOf(state, parts) {
  const list = $("tabs");
  const tabs = parts.map(({ id, name }) => html("button", { type: "button", role: "tab", id: `tab-${id}`, "aria-controls": id }, name));
  list.append(...tabs);
  let open = 0;
  let resting = 0;

  function draw() {
    clearTimeout(resting);
    parts[open].draw?.();
  }

  function show(at, { focus = false } = {}) {
    if (at !== open) parts[open].leave?.();
    open = at;
    parts.forEach(({ id }, i) => {
      $(id).hidden = i !== at;
      tabs[i].setAttribute("aria-selected", i === at);
      tabs[i].setAttribute("tabindex", i === at ? "0" : "-1");
    });
    if (focus) tabs[at].focus();
    draw();
  }

  parts.forEach(({ id }, i) => {
    $(id).setAttribute("role", "tabpanel");
    $(id).setAttribute("aria-labelledby", `tab-${id}`);
    tabs[i].addEventListener("click", () => show(i));
  });
  list.addEventListener("keydown", (event) => {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    const n = parts.length;
    const at = event.key === "Home" ? 0 : event.key === "End" ? n - 1 : by ? (open + by + n) % n : null;
    if (at === null) return;
    event.preventDefault();
    show(at, { focus: true });
  });
  state.listeners.push(() => {
    clearTimeout(resting);
    if (parts[open].isQuick) parts[open].draw();
    else resting = setTimeout(draw, 120);
  });
  window.addEventListener("beforeprint", () => parts.forEach((part) => part.draw?.()));
  show(0);
  return { open: (id) => show(Math.max(0, parts.findIndex((part) => part.id === id))), isOpen: (id) => parts[open].id === id };
}
