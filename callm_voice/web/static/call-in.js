// The page on which a person calls in: choose, call, talk, hang up, see what came of it.
// All that comes from the server is text of others: it is set as text, never as markup.
(() => {
  "use strict";
  const byId = (id) => document.getElementById(id);
  const LEVEL_MS = 80, REPORT_TRIES = 60, REPORT_MS = 1000, HANG_UP_MS = 3000;
  const NEEDED = new Map();  // model → whether it needs a task
  let pipelines = [], tasks = [], call = null;

  function state(words) { byId("state").textContent = words; }
  function trouble(words) {
    byId("trouble").textContent = words;
    byId("trouble").hidden = !words;
  }

  async function json(address, options) {
    const answer = await fetch(address, { cache: "no-store", ...options });
    const told = await answer.json().catch(() => ({}));
    if (!answer.ok) throw new Error(String(told.detail || `the server answered ${answer.status}`));
    return told;
  }

  // Choices

  function fill(select, options, chosen) {
    select.replaceChildren(...options.map(([value, words]) => new Option(words, value, false, value === chosen)));
  }

  async function choices() {
    const told = await json("/api/call-in/choices");
    const named = (one) => [one.id, one.title ? `${one.id} - ${one.title}` : one.id];
    pipelines = told.pipelines;
    fill(byId("pack"), told.packs.map((one) => [one.id, one.title]), told.defaults.pack);
    fill(byId("line"), told.lines.map(named), told.defaults.line);
    fill(byId("pipeline"), pipelines.map(named), told.defaults.pipeline);
    models(told.defaults.model);
    await packTasks();
    byId("call").disabled = false;
  }

  function models(chosen) {
    const pipeline = pipelines.find((one) => one.id === byId("pipeline").value);
    const found = pipeline ? pipeline.models : [];
    NEEDED.clear();
    for (const one of found) NEEDED.set(one.id, one.needs_task);
    fill(byId("model"), found.map((one) => [one.id, one.needs_task ? `${one.id} (plays a task's gold path)` : one.id]), chosen);
  }

  async function packTasks() {
    const told = await json(`/api/call-in/choices/${encodeURIComponent(byId("pack").value)}`);
    tasks = told.tasks;
    fill(byId("task"), [["", "none: just talk"], ...tasks.map((one) => [one.id, `${one.id} ${one.title} (${one.difficulty})`])], "");
    brief();
  }

  function brief() {
    const task = tasks.find((one) => one.id === byId("task").value);
    byId("brief").hidden = !task;
    if (!task) return;
    byId("measures").textContent = task.measures;
    byId("script").textContent = task.script;
    byId("traits").replaceChildren(...Object.entries(task.traits).flatMap(([name, value]) => {
      const dt = document.createElement("dt"), dd = document.createElement("dd");
      dt.textContent = name.replaceAll("_", " ");
      dd.textContent = value;
      return [dt, dd];
    }));
  }

  // The call

  async function begin() {
    trouble("");
    if (NEEDED.get(byId("model").value) && !byId("task").value) {
      trouble("This model plays a task's gold path: choose a task.");
      return;
    }
    reset();
    const mine = call = { id: crypto.randomUUID(), phone: null, opened: null, open: false, over: false };
    mine.phone = new window.CALLM_PHONE((to) => connection(mine, to));
    lock(true);
    try {
      state("asking for the microphone");
      const sdp = await mine.phone.offer(byId("sound"));
      if (mine.over) return;
      state("calling");
      const order = {
        id: mine.id, pack: byId("pack").value, task: byId("task").value || null, model: byId("model").value,
        line: byId("line").value, pipeline: byId("pipeline").value, sdp,
      };
      const told = await json("/api/call-in/calls", {
        method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(order),
      });
      mine.known = true;
      if (mine.over) { tellHangUp(mine); return; }
      await mine.phone.accept(told.sdp);
      follow(mine);
    } catch (error) {
      const why = error.name === "NotAllowedError" ? "the microphone was not allowed" : error.message;
      end(mine, mine.over ? "" : why);
    }
  }

  function reset() {
    byId("result").hidden = true;
    byId("report-part").hidden = true;
    for (const row of [...byId("transcript").querySelectorAll(".row:not(.head)")]) row.remove();
    byId("latency").tBodies[0].replaceChildren();
  }

  function lock(calling) {
    for (const part of byId("choice").elements) part.disabled = calling;
    byId("hang-up").disabled = !calling;
    for (const key of document.querySelectorAll("[data-key]")) key.disabled = true;
  }

  function connection(mine, to) {
    if (mine !== call || mine.over) return;
    if (to === "connected" && !mine.open) state("connected; the desk is being made ready");
    if (to === "failed") trouble("The connection to the desk was lost.");
  }

  function follow(mine) {
    const transcript = new window.CALLM_TRANSCRIPT(byId("transcript"), () => {});
    const latency = new window.CALLM_LATENCY(byId("latency").tBodies[0]);
    const scheme = location.protocol === "https:" ? "wss" : "ws";
    const socket = new WebSocket(`${scheme}://${location.host}/api/call-in/calls/${mine.id}/events`);
    socket.addEventListener("message", ({ data }) => {
      const told = JSON.parse(data);
      if (told.progress && !mine.open) state(told.progress);
      if (told.open) opened(mine);
      if (told.error) mine.error = told.error;
      if (told.event) {
        transcript.take(told.event);
        latency.take(told.event);
        if (told.event.type === "call_ended") { state("the call is over and is being judged"); hush(mine); }
        byId("transcript").scrollTop = byId("transcript").scrollHeight;
      }
      if (told.done) {
        latency.measured(told.done.v2v_ms);
        result(mine, told.done);
      }
    });
    socket.addEventListener("close", () => { if (mine === call) end(mine, mine.error || (mine.done ? "" : "the call was lost")); });
  }

  function opened(mine) {
    mine.open = true;
    mine.opened = performance.now();
    state("the line is open");
    const pipeline = pipelines.find((one) => one.id === byId("pipeline").value);
    const keys = mine.phone.hasKeys && pipeline && pipeline.keypad;
    for (const key of document.querySelectorAll("[data-key]")) key.disabled = !keys;
  }

  function hush(mine) {
    mine.opened = null;
    mine.phone.close();
    byId("hang-up").disabled = true;
    for (const key of document.querySelectorAll("[data-key]")) key.disabled = true;
  }

  function tellHangUp(mine) {
    navigator.sendBeacon(`/api/call-in/calls/${mine.id}/hang-up`);
  }

  function hangUp() {
    if (!call || call.over) return;
    const mine = call;
    if (mine.known) tellHangUp(mine);
    if (!mine.open) { end(mine, ""); return; }
    state("hanging up");
    byId("hang-up").disabled = true;
    mine.phone.mute();
    setTimeout(() => hush(mine), HANG_UP_MS);  // its connection closes when the desk knows, or at the latest then
  }

  function end(mine, why) {
    mine.over = true;
    mine.phone.close();
    if (mine !== call) return;
    lock(false);
    if (why) trouble(why);
    state(mine.done ? "hung up" : "not connected");
    mine.opened = null;
  }

  // Afterwards

  function result(mine, done) {
    mine.done = done;
    const verdict = byId("verdict");
    verdict.textContent = done.status + (done.invalid_kind ? ` (${done.invalid_kind})` : "");
    verdict.className = `status ${done.status}`;
    byId("ended").textContent = `${window.CALLM_CLOCK(done.duration_ms)} long · ended: ${done.end_reason.replaceAll("_", " ")}${done.detail ? `: ${done.detail}` : ""}${done.latency_invalid ? ` · latency does not count: ${done.latency_invalid}` : ""}`;
    byId("gates").textContent = done.gates
      ? Object.entries(done.gates).map(([name, passed]) => `${passed ? "✓" : "✗"} ${name}`).join("   ")
      : done.status === "unscored" ? "No task was chosen, so nothing was expected of the desk." : "";
    byId("to-call").href = `/calls/${done.call}`;
    byId("to-sound").href = `/api/call-in/calls/${mine.id}/call.flac`;
    byId("result").hidden = false;
    report(mine, done.call);
  }

  async function report(mine, id) {
    for (let tries = 0; tries < REPORT_TRIES && mine === call; tries += 1) {
      const told = await json("/api/calls").catch(() => null);
      const found = told && told.finished.find((one) => one.id === id);
      if (found && found.href) {
        byId("to-report").href = `/${found.href}`;
        byId("report-part").hidden = false;
        return;
      }
      await new Promise((resolve) => { setTimeout(resolve, REPORT_MS); });
    }
  }

  setInterval(() => {
    const phone = call && call.phone;
    byId("level-in").value = phone ? phone.level("in") : -60;
    byId("level-out").value = phone ? phone.level("out") : -60;
    if (call && call.opened !== null) byId("clock").textContent = window.CALLM_CLOCK(performance.now() - call.opened);
  }, LEVEL_MS);

  byId("choice").addEventListener("submit", (event) => { event.preventDefault(); begin(); });
  byId("hang-up").addEventListener("click", hangUp);
  byId("pack").addEventListener("change", () => packTasks().catch((error) => trouble(error.message)));
  byId("task").addEventListener("change", brief);
  byId("pipeline").addEventListener("change", () => models(byId("model").value));
  for (const key of document.querySelectorAll("[data-key]")) key.addEventListener("click", () => call && call.phone.press(key.dataset.key));
  window.addEventListener("pagehide", () => { if (call && !call.over && call.known) tellHangUp(call); });
  choices().catch((error) => trouble(error.message));
})();
