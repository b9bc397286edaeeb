// The failures one after the other: each from a little before the moment it went wrong.
(() => {
  "use strict";
  const LEAD_MS = 3000, MAX_DRIFT_S = 0.06, FIRST_ROWS = 100;
  const root = document.body.dataset.root, at = (id) => document.getElementById(id);
  const all = Object.keys(window.CALLM_FAILURES || {}).sort((a, b) => a - b).flatMap((key) => window.CALLM_FAILURES[key]);
  const labels = Object.fromEntries([...document.querySelectorAll("#kinds tr[data-kind]")].map((row) => [row.dataset.kind, row.cells[0].textContent]));
  const gates = { tools: "Gate 1: tools", path: "Gate 2: handoff path", state: "Gate 3: database state" };
  let shown = [], current = -1, audio = [], stopAt = null;
  const clock = (ms) => `${String(Math.floor(ms / 60000)).padStart(2, "0")}:${String(Math.floor(ms / 1000) % 60).padStart(2, "0")}`;
  const make = (tag, name, text) => {
    const made = document.createElement(tag);
    if (name) made.className = name;
    if (text !== undefined) made.textContent = text;
    return made;
  };
  const groupOf = {
    kind: (f) => labels[f.kind] || f.kind,
    gate: (f) => (f.gates.length ? gates[f.gates[0]] : "No verdict"),
    tool: (f) => f.tool || "No tool",
    model: (f) => f.model,
    task: (f) => `${f.pack}/${f.task}`,
    blame: (f) => (f.blame ? `To blame: ${f.blame}` : "Not scored"),
  };

  function list() {
    const wanted = all.filter((f) => (!at("model").value || f.model === at("model").value) && (!at("pack").value || f.pack === at("pack").value));
    const groups = new Map();
    wanted.forEach((failure) => {
      const name = groupOf[at("group").value](failure);
      if (!groups.has(name)) groups.set(name, []);
      groups.get(name).push(failure);
    });
    shown = [...groups.values()].flat();
    at("count").textContent = `${shown.length} failure${shown.length === 1 ? "" : "s"} in ${groups.size} group${groups.size === 1 ? "" : "s"}`;
    let number = 0;
    at("list").replaceChildren(...[...groups].map(([name, failures]) => {
      const section = make("section"), head = make("h2", "", `${name} (${failures.length})`);
      section.append(head);
      const rows = failures.map((failure) => rowOf(failure, number++));
      section.append(...rows.slice(0, FIRST_ROWS).map((build) => build()));
      if (rows.length > FIRST_ROWS) {
        const more = make("button", "more", `Show ${rows.length - FIRST_ROWS} more`);
        more.type = "button";
        more.addEventListener("click", () => more.replaceWith(...rows.slice(FIRST_ROWS).map((build) => build())));
        section.append(more);
      }
      return section;
    }));
    pick(shown.length ? 0 : -1, false, false);
  }

  function rowOf(failure, number) {
    return () => {
      const row = make("div", "failure");
      row.dataset.number = number;
      const play = make("button", "", failure.files.length ? "▶" : "→");
      play.type = "button";
      play.setAttribute("aria-label", `Play failure ${number + 1}: ${failure.what}`);
      play.addEventListener("click", () => { pick(number, true, false); if (!failure.files.length) location.href = at("open").href; });
      const link = make("a", "", `${failure.pack}/${failure.task}, ${failure.model}`);
      link.href = `${root}${failure.href}index.html#t=${failure.t}`;
      const who = make("span");
      who.append(link, make("br"), make("span", "tags", `${failure.line}, trial ${failure.trial}`));
      const tags = [failure.gates.length ? `failed: ${failure.gates.join(", ")}` : "", failure.blame ? `blame: ${failure.blame}` : ""].filter(Boolean).join(" · ");
      const what = make("span");
      what.append(make("span", "what", failure.what), make("br"), make("span", "tags", tags));
      row.append(play, who, what, make("span", "tags", clock(failure.t)));
      return row;
    };
  }

  function pick(number, play, scroll = true) {
    stop();
    current = number;
    const failure = shown[number];
    document.querySelectorAll(".failure.now").forEach((row) => row.classList.remove("now"));
    at("deck").dataset.current = number;
    if (!failure) { at("what").textContent = "Nothing fits these filters."; at("now").textContent = "–"; return; }
    let row = document.querySelector(`.failure[data-number="${number}"]`);
    if (!row) { document.querySelectorAll("button.more").forEach((more) => more.click()); row = document.querySelector(`.failure[data-number="${number}"]`); }
    row.classList.add("now");
    if (scroll) row.scrollIntoView({ block: "center" });
    at("what").textContent = `${number + 1} of ${shown.length}: ${failure.pack}/${failure.task}, ${failure.model}, trial ${failure.trial}. ${failure.what}`;
    at("open").href = `${root}${failure.href}index.html#t=${failure.t}`;
    audio = failure.files.map((file) => new Audio(root + file));
    audio.forEach((sound) => { sound.currentTime = Math.max(0, failure.t - LEAD_MS) / 1000; });
    at("play").disabled = !audio.length;
    at("now").textContent = audio.length ? clock(Math.max(0, failure.t - LEAD_MS)) : "no sound";
    at("deck").dataset.from = Math.max(0, failure.t - LEAD_MS);
    if (play) start();
  }

  async function start() {
    if (!audio.length) return;
    const mine = audio;
    stopAt = at("advance").checked ? mine[0].currentTime + Number(at("seconds").value) : null;
    try { await Promise.all(mine.map((sound) => sound.play())); } catch { return; }
    if (mine !== audio) { mine.forEach((sound) => sound.pause()); return; }
    button(true);
    const tick = () => {
      if (mine !== audio) return;
      const [first, second] = mine;
      at("now").textContent = clock(first.currentTime * 1000);
      if (first.ended || (stopAt !== null && first.currentTime >= stopAt)) {
        if (at("advance").checked && current + 1 < shown.length) pick(current + 1, true);
        else stop();
        return;
      }
      if (first.paused) return;
      if (Math.abs(first.currentTime - second.currentTime) > MAX_DRIFT_S) second.currentTime = first.currentTime;
      requestAnimationFrame(tick);
    };
    requestAnimationFrame(tick);
  }
  function stop() { audio.forEach((sound) => sound.pause()); button(false); }
  function button(playing) { at("play").textContent = playing ? "❚❚ Pause" : "▶ Play"; }
  const toggle = () => (audio.some((sound) => !sound.paused) ? stop() : start());
  const step = (by) => { if (shown[current + by]) pick(current + by, true); };

  at("play").addEventListener("click", toggle);
  at("next").addEventListener("click", () => step(1));
  at("previous").addEventListener("click", () => step(-1));
  ["group", "model", "pack"].forEach((id) => at(id).addEventListener("change", list));
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, select, textarea")) return;
    if (event.key === "j") step(1);
    else if (event.key === "k") step(-1);
    else if (event.key === " " && !event.target.closest("button, a")) { event.preventDefault(); toggle(); }
    else if (event.key === "Enter" && event.target === document.body && shown[current]) location.href = at("open").href;
  });
  list();
})();
