// Listens in to one call: events make the transcript, and after a click the sound is fetched and played.
(() => {
  "use strict";
  const byId = (id) => document.getElementById(id);
  const stage = byId("stage"), id = stage.dataset.call;
  const clock = window.CALLM_CLOCK;
  const HISTORY = 200, SHORTLY_MS = 300, GATHER_MS = 700;
  const address = (what) => `${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/calls/${id}/${what}`;

  const player = { context: null, node: null, rate: 0, position: 0, total: 0, playing: false, over: false };
  const mix = { solo: null, mute: [false, false] };
  const levels = [[], []];
  const canvases = [...document.querySelectorAll("canvas.level")];
  const transcript = new window.CALLM_TRANSCRIPT(byId("transcript"), (ms) => seek(ms));
  const ms = (frames) => (player.rate ? frames * 1000 / player.rate : 0);

  function trouble(text) {
    byId("trouble").textContent = text;
    byId("trouble").hidden = !text;
  }

  // Events

  function watchEvents() {
    const socket = new WebSocket(address("events"));
    socket.addEventListener("message", ({ data }) => {
      transcript.take(JSON.parse(data));
      if (!player.playing) follow(byId("transcript").lastElementChild);
      if (transcript.started && stage.dataset.state === "opening") setState("running");
      if (transcript.started) byId("name").textContent = `${transcript.started.task}, ${transcript.started.model}`;
      if (transcript.ended && stage.dataset.state !== "finished") setState("ending");
    });
    socket.addEventListener("close", ({ code, reason }) => {
      if (code === 1000) finished();
      else trouble(`The events ended early: ${reason || `code ${code}`}. Load the page again to go on.`);
    });
  }

  function setState(state) {
    const words = { opening: "the line is being opened", running: "the call is going on", ending: "the call is over and is being scored", finished: "the call is finished" };
    stage.dataset.state = state;
    byId("state").textContent = words[state];
  }

  async function finished() {
    setState("finished");
    for (let tries = 0; tries < 40; tries += 1) {
      const answer = await fetch("/api/calls", { cache: "no-store" });
      if (!answer.ok) return;
      const call = (await answer.json()).finished.find((one) => one.id === id);
      if (call) {
        const verdict = byId("verdict");
        verdict.textContent = call.status + (call.kind ? ` (${call.kind})` : "");
        verdict.className = `status ${call.status}`;
        verdict.hidden = false;
      }
      if (call && call.href) {
        byId("report").href = `/${call.href}`;
        byId("report").hidden = false;
        return;
      }
      await new Promise((done) => { setTimeout(done, 1500); });
    }
  }

  function follow(row) {
    if (!row || !byId("follow").checked) return;
    const table = byId("transcript");
    table.scrollTop = row.offsetTop - table.offsetTop - table.clientHeight / 2;
  }

  // Sound

  async function open(rate) {
    player.rate = rate;
    player.context = new AudioContext({ sampleRate: rate });
    await player.context.audioWorklet.addModule("/static/pcm-player.js");
    player.node = new AudioWorkletNode(player.context, "pcm-player", { numberOfInputs: 0, outputChannelCount: [2] });
    player.node.port.onmessage = ({ data }) => progress(data);
    player.node.connect(player.context.destination);
    applyMix();
  }

  function hear() {
    const socket = new WebSocket(address("sound"));
    socket.binaryType = "arraybuffer";
    let opened = null;
    socket.addEventListener("message", ({ data }) => {
      if (typeof data === "string") {
        const { rate_hz: rate } = JSON.parse(data);
        opened = open(rate).then(begin, (error) => trouble(`This browser cannot play the call: ${error.message}`));
      } else {
        opened.then(() => { if (player.node) player.node.port.postMessage({ pcm: data }, [data]); });
      }
    });
    socket.addEventListener("close", ({ code, reason }) => {
      player.over = true;
      if (code !== 1000) trouble(`The sound ended early: ${reason || `code ${code}`}. Load the page again to go on.`);
      else if (!opened) trouble("This call has no sound.");
      if (!opened) {
        byId("play").disabled = false;
        byId("play-word").textContent = "Listen";
      }
    });
  }

  // Of a call that goes on at the pace of the clock one wants to hear what is said now.
  function begin() {
    const now = stage.dataset.state === "running" && transcript.started && transcript.started.pace === "real";
    byId("position").disabled = byId("to-now").disabled = false;
    setTimeout(() => {
      if (now) toNow();
      setPlaying(true);
    }, now ? GATHER_MS : 0);
  }

  function setPlaying(playing) {
    player.playing = playing;
    if (playing) player.context.resume();
    player.node.port.postMessage({ playing });
    byId("play").firstElementChild.textContent = playing ? "❚❚" : "▶";
    byId("play-word").textContent = playing ? "Pause" : "Play";
    byId("play").disabled = false;
  }

  function seek(tMs) {
    if (player.node) player.node.port.postMessage({ seek: tMs * player.rate / 1000 });
  }

  function toNow() {
    seek(Math.max(0, ms(player.total) - SHORTLY_MS));
  }

  function progress({ position, total, peaks }) {
    player.position = position;
    player.total = total;
    byId("at").textContent = clock(ms(position));
    byId("length").textContent = clock(ms(total));
    const slider = byId("position");
    slider.max = String(Math.round(ms(total)));
    if (document.activeElement !== slider || player.playing) slider.value = String(Math.round(ms(position)));
    slider.setAttribute("aria-valuetext", clock(ms(position)));
    const leftS = ms(total - position) / 1000;
    byId("ahead").textContent = player.over ? `${leftS.toFixed(1)} s left` : `the call is ${leftS.toFixed(1)} s ahead of what you hear`;
    if (player.playing) {
      peaks.forEach((peak, n) => { levels[n].push(peak); levels[n].splice(0, levels[n].length - HISTORY); });
      draw();
      const row = transcript.at(ms(position));
      if (row) follow(row);
    }
    stage.dataset.levels = JSON.stringify(peaks.map((peak, n) => Math.max(peak, ...levels[n])));
  }

  function applyMix() {
    document.querySelectorAll("[data-solo]").forEach((b) => b.setAttribute("aria-pressed", String(mix.solo === Number(b.dataset.solo))));
    document.querySelectorAll("[data-mute]").forEach((b) => b.setAttribute("aria-pressed", String(mix.mute[Number(b.dataset.mute)])));
    const gains = [0, 1].map((n) => ((mix.solo === null ? !mix.mute[n] : mix.solo === n) ? 1 : 0));
    if (player.node) player.node.port.postMessage({ gains });
  }

  function draw() {
    canvases.forEach((canvas, n) => {
      const width = canvas.width = canvas.clientWidth * devicePixelRatio;
      const height = canvas.height = canvas.clientHeight * devicePixelRatio;
      const context = canvas.getContext("2d");
      context.fillStyle = getComputedStyle(canvas.closest(".lane").querySelector(".party")).color;
      const step = width / HISTORY;
      levels[n].forEach((level, i) => {
        const tall = Math.max(1, Math.sqrt(level) * height);
        context.fillRect(width - (levels[n].length - i) * step, (height - tall) / 2, Math.max(1, step * 0.7), tall);
      });
    });
  }

  byId("play").addEventListener("click", () => {
    if (player.node) setPlaying(!player.playing);
    else {
      byId("play").disabled = true;
      byId("play-word").textContent = "Opening";
      hear();
    }
  });
  byId("to-now").addEventListener("click", toNow);
  byId("position").addEventListener("input", ({ target }) => seek(Number(target.value)));
  document.querySelectorAll("[data-solo]").forEach((button) => button.addEventListener("click", () => {
    const channel = Number(button.dataset.solo);
    mix.solo = mix.solo === channel ? null : channel;
    applyMix();
  }));
  document.querySelectorAll("[data-mute]").forEach((button) => button.addEventListener("click", () => {
    mix.mute[Number(button.dataset.mute)] = !mix.mute[Number(button.dataset.mute)];
    applyMix();
  }));

  setState(stage.dataset.state);
  watchEvents();
})();
