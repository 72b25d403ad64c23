// Error against leaves, on a logarithmic axis; the slider lies over it and is this axis.

function chartOf(raw, tree, state) {
  const stops = raw.stops;
  const most = Math.max(...stops.leaves, 2);
  const slider = $("slider");
  const box = { left: 46, right: 14, top: 14, bottom: 34, height: 220 };
  const rate = (s, cost) => cost / (tree.samples[s].total[0] || 1);
  const shown = raw.kind === "classes" ? (x) => percent(x) : number;
  const lines = [];
  if (stops.bound) lines.push({ key: "bound", name: "certified limit", values: stops.bound });
  tree.samples.forEach((sample, s) => {
    lines.push({ key: `sample-${s}`, name: sample.name, values: stops.errors[s].map((x) => (x === null ? null : rate(s, x))) });
  });
  if (stops.cv && !(stops.cv_name === tree.samples[1]?.sample)) {
    lines.push({ key: "cv", name: stops.cv_name === "cross-validation" ? "cross-validated" : stops.cv_name, values: stops.cv });
  }
  const top = Math.max(...lines.flatMap((line) => line.values.filter((x) => x !== null)), raw.certified || 0, 1e-9);

  const position = (leaves) => Math.log(leaves) / Math.log(most);
  let width = 0;
  const x = (leaves) => box.left + position(leaves) * (width - box.left - box.right);
  const y = (value) => box.top + (1 - Math.min(value / (top * 1.06), 1)) * (box.height - box.top - box.bottom);

  function draw() {
    width = Math.max(280, $("chart").clientWidth);
    const curves = $("curves");
    curves.setAttribute("viewBox", `0 0 ${width} ${box.height}`);
    curves.setAttribute("height", box.height);
    curves.replaceChildren(curves.querySelector("title"));
    for (const value of ticks(top)) {
      curves.append(
        svg("line", { class: "grid", x1: box.left, x2: width - box.right, y1: y(value), y2: y(value) }),
        svg("text", { class: "tick", x: box.left - 6, y: y(value) + 4, "text-anchor": "end" },
          raw.kind === "classes" ? `${Number((value * 100).toFixed(2))}%` : number(value)),
      );
    }
    let last = -100;
    for (const leaves of leafTicks(most)) {
      if (x(leaves) - last < 30) continue;
      last = x(leaves);
      curves.append(svg("text", { class: "tick", x: last, y: box.height - box.bottom + 16, "text-anchor": "middle" }, number(leaves)));
    }
    curves.append(svg("text", { class: "tick", x: width - box.right, y: box.height - 3, "text-anchor": "end" }, "leaves (log scale)"));
    drawMarks(curves);
    if (stops.cv) drawBand(curves);
    for (const line of lines) {
      const points = line.values.map((value, i) => (value === null ? null : [x(stops.leaves[i]), y(value)])).filter((p) => p);
      curves.append(svg("polyline", { class: `curve ${line.key}`, points: points.map((p) => p.map((z) => z.toFixed(1)).join(",")).join(" ") }));
      if (points.length <= 40) for (const [px, py] of points) curves.append(svg("circle", { class: `point ${line.key}`, cx: px.toFixed(1), cy: py.toFixed(1), r: 2 }));
    }
    if (raw.certified !== null) {
      const at = stops.leaves[raw.marks.fitted];
      curves.append(svg("path", { class: "stamp", d: star(x(at), y(raw.certified)) }, svg("title", {}, raw.certificate)));
    }
    curves.append(svg("g", { id: "now" }));
    // The middle of the thumb runs from half its width to the other end less half its width.
    slider.style.left = `${box.left - 10}px`;
    slider.style.width = `${width - box.left - box.right + 20}px`;
    slider.style.top = `${box.top}px`;
    slider.style.height = `${box.height - box.top - box.bottom}px`;
    update();
  }

  function drawMarks(curves) {
    const names = { one_se: "1 SE", best: "least", fitted: "fitted" };
    let taken = [];
    for (const key of ["fitted", "one_se", "best"]) {
      if (raw.marks[key] === undefined) continue;
      const px = x(stops.leaves[raw.marks[key]]);
      const level = taken.filter((other) => Math.abs(other - px) < 72).length;
      taken.push(px);
      const anchor = px > width - 60 ? "end" : "start";
      curves.append(
        svg("line", { class: `mark ${key}`, x1: px, x2: px, y1: box.top, y2: box.height - box.bottom }),
        svg("text", { class: "tick", x: px + (anchor === "end" ? -3 : 3), y: box.top + 8 + 12 * level, "text-anchor": anchor }, names[key]),
      );
    }
  }

  function drawBand(curves) {
    const there = stops.cv.map((value, i) => i).filter((i) => stops.cv[i] !== null);
    const up = there.map((i) => `${x(stops.leaves[i]).toFixed(1)},${y(stops.cv[i] + stops.se[i]).toFixed(1)}`);
    const down = there.map((i) => `${x(stops.leaves[i]).toFixed(1)},${y(Math.max(0, stops.cv[i] - stops.se[i])).toFixed(1)}`);
    curves.append(svg("polygon", { class: "band", points: [...up, ...down.reverse()].join(" ") }));
  }

  // The moving part: dots on the curves, the thumb, and the numbers above.
  function update() {
    const { leaves, costs } = state.numbers;
    const limit = state.limit();
    const dots = tree.samples.map((sample, s) => ({ key: `sample-${s}`, value: rate(s, costs[s]) }));
    if (limit.value !== null) dots.push({ key: "bound", value: limit.value });
    const cv = stops.cv && !state.edits.length ? stops.cv[state.stop] : null;
    if (cv !== null && lines.some((line) => line.key === "cv")) dots.push({ key: "cv", value: cv });
    $("now")?.replaceChildren(
      ...dots.map(({ key, value }) => svg("circle", { class: `dot ${key}`, cx: x(leaves.length), cy: y(value), r: 5 })),
    );
    slider.value = 1000 * position(leaves.length);
    const told = tree.samples.map((sample, s) => `${sample.name} error ${shown(rate(s, costs[s]))}`).join(", ");
    slider.setAttribute("aria-valuetext", `${count(leaves.length, "leaf", "leaves")}, ${told}`);
    say(`${count(leaves.length, "leaf", "leaves")}, ${told}`);
    drawTiles(leaves.length, costs, limit, cv);
  }

  function drawTiles(nLeaves, costs, limit, cv) {
    const tile = (key, name, value, note) =>
      html("div", { class: `tile ${key}` }, html("dt", {}, name), html("dd", {}, value, note ? html("small", {}, note) : null));
    const unit = raw.kind === "classes" ? "error" : "squared error";
    const tiles = [tile("leaves", nLeaves === 1 ? "leaf" : "leaves", number(nLeaves), `of ${number(tree.nLeaves[0])}`)];
    tree.samples.forEach((sample, s) => {
      const rows = sample.total[0];
      const note = raw.kind === "classes" ? `${number(costs[s])} of ${number(rows)}` : `${number(rows)} rows`;
      tiles.push(tile(`sample-${s}`, `${sample.name} ${unit}`, shown(rate(s, costs[s])), note));
    });
    if (cv !== null && lines.some((line) => line.key === "cv")) {
      tiles.push(tile("cv", `cross-validated ${unit}`, shown(cv), `± ${shown(stops.se[state.stop])}`));
    }
    if (limit.value !== null) {
      const note = limit.from === "path" ? "all stops at once" : "any pruning, however chosen";
      tiles.push(tile("bound", `at most (${100 * (1 - raw.limit.delta)} % sure)`, percent(limit.value, Math.ceil), note));
    } else if (state.edits.length && raw.certified !== null) tiles.push(tile("bound", "certified limit", "none", "for cuts by hand"));
    $("tiles").replaceChildren(...tiles);
  }

  function nearestStop(share) {
    let best = 0;
    stops.leaves.forEach((leaves, i) => {
      if (Math.abs(position(leaves) - share) < Math.abs(position(stops.leaves[best]) - share)) best = i;
    });
    return best;
  }

  slider.addEventListener("input", () => state.goTo(nearestStop(slider.value / 1000)));
  slider.addEventListener("change", () => (slider.value = 1000 * position(state.numbers.leaves.length)));
  slider.addEventListener("keydown", (event) => {
    const last = stops.leaves.length - 1;
    const by = { ArrowRight: -1, ArrowUp: -1, ArrowLeft: 1, ArrowDown: 1, PageUp: -10, PageDown: 10 }[event.key];
    if (event.key === "Home") state.goTo(last);
    else if (event.key === "End") state.goTo(0);
    else if (by) state.goTo(state.stop + by);
    else return;
    event.preventDefault();
  });

  function legend() {
    const items = lines.map((line) => html("li", {}, svg("svg", { class: "key", width: 22, height: 10, "aria-hidden": "true" },
      svg("line", { class: `curve ${line.key}`, x1: 0, x2: 22, y1: 5, y2: 5 })), line.name));
    if (raw.certified !== null) {
      items.push(html("li", {}, svg("svg", { class: "key", width: 14, height: 14, "aria-hidden": "true" },
        svg("path", { class: "stamp", d: star(7, 7) })), `certificate of the fitted tree: ${percent(raw.certified, Math.ceil)}`));
    }
    $("legend").replaceChildren(...items);
    const names = { fitted: "As fitted", one_se: "Smallest within 1 SE", best: "Least error" };
    const buttons = Object.entries(names).filter(([key]) => raw.marks[key] !== undefined)
      .map(([key, name]) => button(`${name} (${number(stops.leaves[raw.marks[key]])})`, () => state.goTo(raw.marks[key])));
    for (const [at, name] of Object.entries(raw.names)) {
      if (!name.includes("fitted")) buttons.push(button(`${name[0].toUpperCase()}${name.slice(1)} (${number(stops.leaves[at])})`, () => state.goTo(Number(at))));
    }
    $("stops").replaceChildren(...buttons);
  }

  legend();
  state.listeners.push(update);
  new ResizeObserver(() => $("chart").clientWidth !== width && draw()).observe($("chart"));
  draw();
  return { draw };
}

function star(cx, cy) {
  const points = [];
  for (let i = 0; i < 10; i++) {
    const r = i % 2 ? 3 : 7;
    const angle = (Math.PI * i) / 5 - Math.PI / 2;
    points.push(`${(cx + r * Math.cos(angle)).toFixed(1)} ${(cy + r * Math.sin(angle)).toFixed(1)}`);
  }
  return `M${points.join("L")}Z`;
}

function ticks(top) {
  const rough = top / 4;
  const unit = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].map((m) => m * unit).find((s) => s >= rough);
  const found = [];
  for (let i = 0; i * step <= top * 1.06; i++) found.push(i * step);
  return found;
}

function leafTicks(most) {
  const found = [];
  for (let unit = 1; unit <= most; unit *= 10) for (const m of [1, 2, 5]) if (m * unit <= most) found.push(m * unit);
  return found;
}
