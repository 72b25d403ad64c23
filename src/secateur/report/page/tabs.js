// The parts under the tree. Only the open part is redrawn when the tree changes, and a slow one only after a pause.

const PAUSE_MILLISECONDS = 120;

function createTabs(state, parts) {
  const list = $("tabs");
  const tabs = parts.map(({ id, name }) => html("button", { type: "button", role: "tab", id: `tab-${id}`, "aria-controls": id }, name));
  list.append(...tabs);
  let open = 0;
  let timer = 0;

  function draw() {
    clearTimeout(timer);
    parts[open].draw?.();
  }

  function show(index, { focus = false } = {}) {
    if (index !== open) parts[open].leave?.();
    open = index;
    parts.forEach(({ id }, i) => {
      $(id).hidden = i !== index;
      tabs[i].setAttribute("aria-selected", i === index);
      tabs[i].setAttribute("tabindex", i === index ? "0" : "-1");
    });
    if (focus) tabs[index].focus();
    draw();
  }

  parts.forEach(({ id }, i) => {
    $(id).setAttribute("role", "tabpanel");
    $(id).setAttribute("aria-labelledby", `tab-${id}`);
    tabs[i].addEventListener("click", () => show(i));
  });
  list.addEventListener("keydown", (event) => {
    const n = parts.length;
    const targets = { Home: 0, End: n - 1, ArrowRight: (open + 1) % n, ArrowLeft: (open - 1 + n) % n };
    if (targets[event.key] === undefined) return;
    event.preventDefault();
    show(targets[event.key], { focus: true });
  });
  state.listeners.push(() => {
    clearTimeout(timer);
    if (parts[open].isQuick) parts[open].draw();
    else timer = setTimeout(draw, PAUSE_MILLISECONDS);
  });
  window.addEventListener("beforeprint", () => parts.forEach((part) => part.draw?.()));
  show(0);
  return { open: (id) => show(Math.max(0, parts.findIndex((part) => part.id === id))), isOpen: (id) => parts[open].id === id };
}
