// Error against leaves, on a logarithmic axis; the slider lies over it and is this axis.

function chartOf(raw, tree, state, errors) {
  const stops = raw.stops;
  const most = Math.max(...stops.leaves, 2);
  const slider = $("slider");
  const box = { left: 46, right: 14, top: 14, bottom: 34, height: 220 };
  const { rate, scaled, shown } = errors;
  const lines = [];
  if (stops.bound) lines.push({ key: "bound", name: "certified limit", rates: stops.bound });
  tree.samples.forEach((sample, s) => {
    lines.push({ key: `sample-${s}`, name: sample.name, rates: stops.errors[s].map((x) => (x === null ? null : rate(s, x))) });
  });
  if (stops.cv && !(stops.cv_name === tree.samples[1]?.sample)) {
    lines.push({ key: "cv", name: stops.cv_name === "cross-validation" ? "cross-validated" : stops.cv_name, rates: stops.cv });
  }
  for (const line of lines) line.values = line.rates.map(scaled);
  const top = Math.max(...lines.flatMap((line) => line.values.filter((x) => x !== null)), raw.certified || 0, 1e-300);
  const tickText = (value) => (errors.isClasses ? `${Number((value * 100).toFixed(2))}%` : figure(value));

  const position = (leaves) => Math.log(leaves) / Math.log(most);
  let width = 0;
  const x = (leaves) => box.left + position(leaves) * (width - box.left - box.right);
  const y = (value) => box.top + (1 - Math.min(value / (top * 1.06), 1)) * (box.height - box.top - box.bottom);

  function draw() {
    width = Math.max(240, $("chart").clientWidth);
    const values = ticks(top);
    box.left = 12 + Math.max(30, ...values.map((value) => textWidth(tickText(value), 11)));
    const curves = $("curves");
    curves.setAttribute("viewBox", `0 0 ${width} ${box.height}`);
    curves.setAttribute("height", box.height);
    curves.replaceChildren(curves.querySelector("title"));
    for (const value of values) {
      curves.append(
        svg("line", { class: "grid", x1: box.left, x2: width - box.right, y1: y(value), y2: y(value) }),
        svg("text", { class: "tick", x: box.left - 6, y: y(value) + 4, "text-anchor": "end" }, tickText(value)),
      );
    }
    let last = -100;
    for (const leaves of leafTicks(most)) {
      if (x(leaves) - last < 30) continue;
      last = x(leaves);
      curves.append(svg("text", { class: "tick", x: last, y: box.height - box.bottom + 16, "text-anchor": "middle" }, number(leaves)));
    }
    curves.append(
      svg("text", { class: "tick", x: 2, y: box.height - 3 }, errors.name),
      svg("text", { class: "tick", x: width - box.right, y: box.height - 3, "text-anchor": "end" }, "leaves (log scale)"),
    );
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
    curves.append(svg("g", { id: "hovered" }), svg("g", { id: "now" }));
    // The middle of the thumb runs from half its width to the other end less half its width.
    slider.style.left = `${box.left - 10}px`;
    slider.style.width = `${width - box.left - box.right + 20}px`;
    slider.style.top = `${box.top}px`;
    slider.style.height = `${box.height - box.top - box.bottom}px`;
    update();
  }

  function drawMarks(curves) {
    const names = { one_se: "1 SE", best: "least", fitted: "fitted" };
    const taken = [];
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
    const edge = (sign) => there.map((i) => `${x(stops.leaves[i]).toFixed(1)},${y(scaled(Math.max(0, stops.cv[i] + sign * stops.se[i]))).toFixed(1)}`);
    curves.append(svg("polygon", { class: "band", points: [...edge(1), ...edge(-1).reverse()].join(" ") }));
  }

  // The moving part: dots on the curves, the thumb, and the numbers above. A dot above the chart is an arrow at its edge.
  function update() {
    const { leaves, costs } = state.numbers;
    const limit = state.limit();
    const dots = tree.samples.map((sample, s) => ({ key: `sample-${s}`, value: scaled(rate(s, costs[s])) })).filter(({ value }) => value !== null);
    if (limit.value !== null) dots.push({ key: "bound", value: limit.value });
    const cv = stops.cv && !state.edits.length ? stops.cv[state.stop] : null;
    if (cv !== null && lines.some((line) => line.key === "cv")) dots.push({ key: "cv", value: scaled(cv) });
    $("now")?.replaceChildren(...dots.map(({ key, value }) => {
      const px = x(leaves.length);
      if (value <= top * 1.06) return svg("circle", { class: `dot ${key}`, cx: px, cy: y(value), r: 5 });
      return svg("path", { class: `dot ${key}`, d: `M${px} ${box.top - 8}l6 9h-12Z` });
    }));
    slider.value = 1000 * position(leaves.length);
    const told = tree.samples.map((sample, s) => `${sample.name} ${errors.name} ${shown(rate(s, costs[s]))}`).join(", ");
    slider.setAttribute("aria-valuetext", `${count(leaves.length, "leaf", "leaves")}, ${told}`);
    say(`${count(leaves.length, "leaf", "leaves")}, ${told}`);
    drawTiles(leaves.length, costs, limit, cv);
  }

  function drawTiles(nLeaves, costs, limit, cv) {
    const tile = (key, name, value, note) =>
      html("div", { class: `tile ${key}` }, html("dt", {}, name), html("dd", {}, value, note ? html("small", {}, note) : null));
    const r2 = (s, mean) => `R²\u00a0${number(Number((errors.explained(s, mean) ?? 0).toFixed(3)))}`;
    const tiles = [tile("leaves", nLeaves === 1 ? "leaf" : "leaves", number(nLeaves), `of ${number(tree.nLeaves[0])}`)];
    tree.samples.forEach((sample, s) => {
      const rows = sample.total[0];
      const note = errors.isClasses ? `${number(costs[s])} of ${number(rows)}` : r2(s, rate(s, costs[s]));
      tiles.push(tile(`sample-${s}`, `${sample.name} ${errors.name}`, shown(rate(s, costs[s])), note));
    });
    if (cv !== null && lines.some((line) => line.key === "cv")) {
      const note = `± ${errors.spread(cv, stops.se[state.stop])}${errors.isClasses ? "" : `, ${r2(0, cv)}`}`;
      tiles.push(tile("cv", `cross-validated ${errors.name}`, shown(cv), note));
    }
    if (limit.value !== null) {
      const note = { path: "all stops at once", certificate: "this tree alone", branching: "any pruning, however chosen" }[limit.from];
      tiles.push(tile("bound", `at most (${100 * (1 - raw.delta)} % sure)`, percent(limit.value, Math.ceil), note));
    } else if (state.edits.length && raw.certified !== null) tiles.push(tile("bound", "certified limit", "none", "for cuts by hand"));
    $("tiles").replaceChildren(...tiles);
    $("limits").textContent = limit.why || "";
  }

  function nearestStop(share) {
    let best = 0;
    stops.leaves.forEach((leaves, i) => {
      if (Math.abs(position(leaves) - share) < Math.abs(position(stops.leaves[best]) - share)) best = i;
    });
    return best;
  }

  // What the curves say at the pointer.
  function hover(event) {
    const { left } = slider.getBoundingClientRect();
    const at = nearestStop((event.clientX - left - 10) / (slider.clientWidth - 20));
    const px = x(stops.leaves[at]);
    const told = lines.filter((line) => line.rates[at] !== null).map((line) =>
      html("div", {}, html("span", { class: `key-dot ${line.key}` }), `${line.name} ${line.key === "bound" ? percent(line.rates[at], Math.ceil) : shown(line.rates[at])}`));
    if (stops.alpha && stops.alpha[at] !== null) told.push(html("div", {}, `alpha ${number(stops.alpha[at])}`));
    const tip = $("tip");
    const member = stops.member[at] < 0 ? raw.names[at] : `pruning ${stops.member[at]} of ${Math.max(...stops.member)}`;
    tip.replaceChildren(html("strong", {}, count(stops.leaves[at], "leaf", "leaves")), html("div", {}, member), ...told);
    tip.hidden = false;
    tip.style.left = `${Math.min(Math.max(0, px + (px > width / 2 ? -tip.offsetWidth - 12 : 12)), width - tip.offsetWidth)}px`;
    tip.style.top = `${box.top + 4}px`;
    $("hovered").replaceChildren(
      svg("line", { class: "mark", x1: px, x2: px, y1: box.top, y2: box.height - box.bottom }),
      ...lines.filter((line) => line.values[at] !== null).map((line) => svg("circle", { class: `point ${line.key}`, cx: px, cy: y(line.values[at]), r: 4 })),
    );
  }
  slider.addEventListener("pointermove", hover);
  slider.addEventListener("pointerleave", () => {
    $("tip").hidden = true;
    $("hovered").replaceChildren();
  });
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
  const step = [1, 2, 2.5, 5, 10].map((m) => m * unit).find((s) => s >= rough * (1 - 1e-9));
  const found = [];
  for (let i = 0; i * step <= top * 1.06; i++) found.push(i * step);
  return found;
}

function leafTicks(most) {
  const found = [];
  for (let unit = 1; unit <= most; unit *= 10) for (const m of [1, 2, 5]) if (m * unit <= most) found.push(m * unit);
  return found;
}
