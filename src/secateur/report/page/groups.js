// The part "Groups": the certified rates of population groups, such as women and men, of the tree as fitted.

const INTERVAL = { width: 130, height: 12 }; // pixels

function createGroups(raw, state) {
  const isFitted = () => state.stop === raw.marks.fitted && !state.edits.length;

  // The limits of a rate as a line from 0 to 100 %, and the rate in the sample as a dot.
  function interval([value, lower, upper]) {
    const { width, height } = INTERVAL;
    const x = (share) => (6 + share * (width - 12)).toFixed(1);
    const middle = height / 2;
    return svg("svg", { class: "interval", width, height, viewBox: `0 0 ${width} ${height}`, "aria-hidden": "true" },
      svg("line", { class: "whole", x1: x(0), x2: x(1), y1: middle, y2: middle }),
      svg("line", { class: "limits", x1: x(lower), x2: x(upper), y1: middle, y2: middle }),
      ...(value === null ? [] : [svg("circle", { cx: x(value), cy: middle, r: 3.5 })]));
  }

  const groupName = (name) => html("bdi", {}, name);

  function rateTable(column, { name, meaning, rows, intervals, gap }) {
    const body = rows.map(([group, number, value, limits], i) =>
      [groupName(group), number, value, html("div", {}, limits, interval(intervals[i]))]);
    const box = { class: "scroll", tabindex: "0", role: "region", "aria-label": `Table of the ${name} by ${column}` };
    const [pair, difference, limit] = gap;
    const inSample = difference ? `, ${difference} in the sample` : "";
    return html("section", { class: "plot-box" },
      html("h3", {}, name),
      html("p", { class: "note" }, `${meaning}.`),
      html("div", box, table(["group", "rows", "sample", "limits"], body, { class: "wide groups" })),
      ...(gap.length ? [html("p", { class: "note" }, "Largest certified gap: ", groupName(pair), `${inSample}, ${limit} points.`)] : []));
  }

  function columnPart({ column, positive, sentence, rates }) {
    const about = positive ? html("p", { class: "note" }, "Positive class: ", groupName(positive), ".") : null;
    return html("div", {},
      html("h2", {}, "Groups of ", groupName(column)),
      about,
      html("div", { class: "plots" }, ...rates.map((rate) => rateTable(column, rate))),
      html("p", { class: "why certificate" }, sentence));
  }

  function draw() {
    const text = "These rates are of the tree as fitted. The shown tree is another one, whose groups are not certified.";
    const note = isFitted() ? [] : [html("p", { class: "note", id: "groups-note" }, text)];
    $("groups-part").replaceChildren(...note, ...raw.groups.map(columnPart));
  }

  return draw;
}
