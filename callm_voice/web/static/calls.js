// The list of calls: asks once a second while it is looked at, and changes rows in place, so that the focus stays.
(() => {
  "use strict";
  const EVERY_MS = 1000, SLOWEST_MS = 10000;
  const byId = (id) => document.getElementById(id);
  let pauseMs = EVERY_MS, timer = 0;

  const clock = (ms) => {
    const seconds = Math.floor(Math.max(0, ms) / 1000);
    return `${String(Math.floor(seconds / 60)).padStart(2, "0")}:${String(seconds % 60).padStart(2, "0")}`;
  };
  const setText = (element, text) => { if (element.textContent !== text) element.textContent = text; };
  const link = (href, text, label) => {
    const a = document.createElement("a");
    a.href = href;
    a.textContent = text;
    a.setAttribute("aria-label", label);
    return a;
  };
  const named = (call) => `${call.task}, ${call.model}, ${call.line}, ${call.trial}`;

  function setLinks(cell, links) {
    const key = JSON.stringify(links);
    if (cell.dataset.links === key) return;
    cell.dataset.links = key;
    cell.className = "links";
    cell.replaceChildren(...links.map(([href, text, label]) => link(href, text, label)));
  }

  function fillRunning(cells, call) {
    [call.task, call.model, call.line, call.trial].forEach((text, n) => setText(cells[n], text));
    setText(cells[4], call.state === "opening" ? "–" : String(call.turn));
    setText(cells[5], call.state === "opening" ? "–" : clock(call.line_ms));
    cells[4].className = cells[5].className = "num";
    setText(cells[6], call.state === "running" ? call.doing : call.state === "opening" ? "opens the line" : "is scored");
    setLinks(cells[7], [[`/calls/${call.id}`, "Listen in", `Listen in: ${named(call)}`]]);
  }

  function fillFinished(cells, call) {
    const signs = { pass: "✓", fail: "✗" };
    if (!cells[0].firstChild) cells[0].append(document.createElement("span"));
    const verdict = cells[0].firstChild;
    verdict.className = `status ${call.status}`;
    setText(verdict, `${signs[call.status] || "○"} ${call.status}${call.kind ? ` (${call.kind})` : ""}`);
    [call.task, call.model, call.line, call.trial].forEach((text, n) => setText(cells[n + 1], text));
    setText(cells[5], clock(call.line_ms));
    cells[5].className = "num";
    setText(cells[6], call.end_reason.replaceAll("_", " "));
    const links = [[`/calls/${call.id}`, "Listen", `Listen: ${named(call)}`]];
    if (call.href) links.push([`/${call.href}`, "Report", `The call in the report: ${named(call)}`]);
    setLinks(cells[7], links);
  }

  function fillTable(name, calls, fill) {
    const body = byId(name).tBodies[0];
    const rows = new Map([...body.rows].map((row) => [row.dataset.call, row]));
    calls.forEach((call, n) => {
      let row = rows.get(call.id);
      rows.delete(call.id);
      if (!row) {
        row = document.createElement("tr");
        row.dataset.call = call.id;
        for (const heading of body.parentElement.tHead.rows[0].cells) {
          const cell = row.insertCell();
          if (!heading.firstElementChild) cell.dataset.label = heading.textContent;  // shown on a phone
        }
      }
      fill(row.cells, call);
      if (body.rows[n] !== row) body.insertBefore(row, body.rows[n] || null);
    });
    rows.forEach((row) => row.remove());
    byId(`${name}-box`).hidden = !calls.length;
    byId(`no-${name}`).hidden = Boolean(calls.length);
  }

  function show(found) {
    fillTable("running", found.running, fillRunning);
    fillTable("finished", found.finished, fillFinished);
    const shown = found.finished.length, all = found.finished_count;
    setText(byId("more"), all > shown ? `The newest ${shown} of ${all}; the report has them all.` : "");
    const trouble = found.report.error ? ` The report could not be built: ${found.report.error}` : "";
    setText(byId("state"), `${found.running.length} running, ${all} finished.${trouble}`);
  }

  async function look() {
    try {
      const answer = await fetch("/api/calls", { cache: "no-store" });
      if (!answer.ok) throw new Error(`HTTP ${answer.status}`);
      show(await answer.json());
      pauseMs = EVERY_MS;
    } catch (error) {
      setText(byId("state"), `The server does not answer (${error.message}); it is asked again.`);
      pauseMs = Math.min(SLOWEST_MS, pauseMs * 2);
    }
    clearTimeout(timer);
    if (!document.hidden) timer = setTimeout(look, pauseMs);
  }

  document.addEventListener("visibilitychange", () => { if (!document.hidden) look(); });
  look();
})();
