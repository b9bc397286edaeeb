// Tables of class `sortable`: a click on a heading sorts by that column, the next one the other way round.
// A cell's `data-sort` counts before its text. Cells without a value stand last either way.
(() => {
  "use strict";
  const key = (row, column) => {
    const cell = row.cells[column];
    if (!cell) return null;
    const text = (cell.dataset.sort ?? cell.textContent).trim();
    if (text === "" || text === "–") return null;
    const number = Number(text.replace(/[\s,$%]/g, ""));
    return Number.isNaN(number) ? text.toLowerCase() : number;
  };
  const compare = (a, b) => {
    if (typeof a === typeof b) return a < b ? -1 : a > b ? 1 : 0;
    return typeof a === "number" ? -1 : 1;
  };
  function sortBy(table, column, direction) {
    const body = table.tBodies[0];
    const rows = [...body.rows].map((row, index) => ({ row, index, key: key(row, column) }));
    rows.sort((a, b) => {
      if (a.key === null || b.key === null) return (a.key === null) - (b.key === null) || a.index - b.index;
      return direction * compare(a.key, b.key) || a.index - b.index;
    });
    body.append(...rows.map((entry) => entry.row));
    [...table.tHead.rows[0].cells].forEach((head, index) => {
      head.setAttribute("aria-sort", index === column ? (direction > 0 ? "ascending" : "descending") : "none");
    });
    table.dataset.sorted = `${column} ${direction}`;
  }
  function prepare(table) {
    [...table.tHead.rows[0].cells].forEach((head, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.className = "sort";
      button.append(...head.childNodes);
      head.append(button);
      head.setAttribute("aria-sort", "none");
      button.addEventListener("click", () => {
        const now = head.getAttribute("aria-sort"), first = head.dataset.first === "ascending" ? 1 : -1;
        sortBy(table, column, now === "none" ? first : now === "ascending" ? -1 : 1);
      });
    });
  }
  document.querySelectorAll("table.sortable").forEach(prepare);
  window.CALLM_TABLE = {
    again(table) {
      const [column, direction] = (table.dataset.sorted || "").split(" ").map(Number);
      if (direction) sortBy(table, column, direction);
    },
  };
})();
