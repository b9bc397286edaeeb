// The leaderboard's filters and the scatter. Figures come as text from the build; nothing is computed here.
(() => {
  "use strict";
  const boards = window.CALLM_BOARD.boards, separator = "\u001f";
  const table = document.getElementById("board"), selects = [...document.querySelectorAll("#filters select")];
  const note = document.getElementById("board-note"), usual = note.textContent;

  function fill(rows) {
    table.tBodies[0].replaceChildren(...rows.map((row) => {
      const line = document.createElement("tr");
      row.cells.forEach((cell, column) => {
        const td = document.createElement("td");
        td.dataset.sort = cell.s ?? "";
        td.textContent = cell.t;
        if (column) td.className = "num";
        if (cell.b) {
          const below = document.createElement("span");
          below.className = "interval";
          below.textContent = cell.b;
          td.append(below);
        }
        line.append(td);
      });
      return line;
    }));
    window.CALLM_TABLE.again(table);
  }

  const node = (name, attributes, text) => {
    const made = document.createElementNS("http://www.w3.org/2000/svg", name);
    Object.entries(attributes).forEach(([key, value]) => made.setAttribute(key, value));
    if (text !== undefined) made.textContent = text;
    return made;
  };

  function scatter(rows) {
    const figure = document.getElementById("scatter"), shown = rows.filter((row) => row.x !== null && row.y !== null);
    if (!shown.length) {
      const none = document.createElement("p");
      none.className = "none";
      none.textContent = "No model here has both a pass@1 and a median time to first token.";
      figure.replaceChildren(none);
      return;
    }
    const width = 760, height = 360, left = 56, right = 24, top = 18, bottom = 44, bar = 1000;
    const most = Math.max(bar * 1.25, ...shown.map((row) => row.x * 1.15));
    const x = (ms) => left + ms / most * (width - left - right), y = (share) => height - bottom - share * (height - top - bottom);
    const svg = node("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": figure.getAttribute("aria-label") });
    const step = [100, 200, 250, 500, 1000, 2000, 5000, 10000, 20000].find((size) => most / size <= 8) || 50000;
    for (let ms = 0; ms <= most; ms += step) {
      svg.append(node("line", { class: "grid", x1: x(ms), x2: x(ms), y1: top, y2: height - bottom }), node("text", { x: x(ms), y: height - bottom + 16, "text-anchor": "middle" }, ms.toLocaleString("en-US")));
    }
    for (const share of [0, 0.25, 0.5, 0.75, 1]) {
      svg.append(node("line", { class: "grid", x1: left, x2: width - right, y1: y(share), y2: y(share) }), node("text", { x: left - 7, y: y(share) + 4, "text-anchor": "end" }, `${share * 100} %`));
    }
    svg.append(node("line", { class: "bar-line", x1: x(bar), x2: x(bar), y1: top, y2: height - bottom }), node("text", { class: "bar-text", x: x(bar) + 6, y: height - bottom - 7 }, "bar: 1,000 ms"));
    svg.append(node("text", { class: "title", x: width - right, y: height - 6, "text-anchor": "end" }, "median time to first token, ms"), node("text", { class: "title", x: left + 6, y: top + 10 }, "pass@1"));
    const placed = [];
    shown.forEach((row, index) => {
      const group = node("g", { class: `c${index % 6}` }), over = row.x > bar;
      group.append(node("title", {}, `${row.model}: ${row.cells[1].t} at ${row.cells[3].t} ms`));
      group.append(over ? node("rect", { class: "point solid", x: x(row.x) - 5, y: y(row.y) - 5, width: 10, height: 10 }) : node("circle", { class: "point solid", cx: x(row.x), cy: y(row.y), r: 6 }));
      let at = y(row.y) + 4;
      while (placed.some((other) => Math.abs(other.y - at) < 14 && Math.abs(other.x - x(row.x)) < 220)) at += 14;
      placed.push({ x: x(row.x), y: at });
      const flip = x(row.x) > width * 0.72;
      const name = row.model.length > 34 ? `${row.model.slice(0, 33)}…` : row.model;
      group.append(node("text", { class: "name", x: x(row.x) + (flip ? -11 : 11), y: at, "text-anchor": flip ? "end" : "start" }, name));
      svg.append(group);
    });
    const caption = document.createElement("figcaption");
    caption.textContent = "Up and left is better. A circle is in the category, a square is out of it.";
    figure.replaceChildren(svg, caption);
  }

  function show() {
    const rows = boards[selects.map((select) => select.value).join(separator)] || [];
    fill(rows);
    scatter(rows);
    note.textContent = rows.length ? usual : "No call fits these filters.";
  }
  selects.forEach((select) => select.addEventListener("change", show));
  scatter(boards[["", "", ""].join(separator)]);
  if (selects.some((select) => select.value)) show();
})();
