// One call's player: two channels on one clock, waveforms, marks, and a transcript that follows.
// The channels are two files that are kept in step, because a page on file:// may not split one file's channels.
(() => {
  "use strict";
  const root = document.body.dataset.root;
  const STEP_MS = 2000, MAX_DRIFT_S = 0.06, MIN_WINDOW_MS = 2000;
  const clock = (ms) => {
    const tenths = Math.round(Math.abs(ms) / 100);
    const two = (n) => String(n).padStart(2, "0");
    return `${ms < 0 && tenths ? "-" : ""}${two(Math.floor(tenths / 600))}:${two(Math.floor(tenths / 10) % 60)}.${tenths % 10}`;
  };
  const levels = (text) => Uint8Array.from(atob(text), (char) => char.charCodeAt(0));

  class Player {
    constructor(element, data) {
      this.element = element;
      this.data = data;
      this.duration = Math.max(data.duration_ms, 1);
      this.view = [0, this.duration];
      this.at = 0;
      this.chosen = null;
      this.mix = { solo: null, mute: [false, false] };
      this.find = (selector) => element.querySelector(selector);
      this.audio = data.files.map((file) => {
        const audio = new Audio(root + file);
        audio.preload = "metadata";
        return audio;
      });
      this.levels = data.peaks ? data.peaks.channels.map(levels) : null;
      this.canvases = [...element.querySelectorAll("canvas.wave")];
      this.rows = data.rows.map(([t0, t1, id]) => ({ t0, t1, row: document.getElementById(`${element.dataset.call}-${id}`) }));
      this.find(".length").textContent = clock(this.duration);
      this.listen();
      this.draw();
    }

    listen() {
      this.find(".play").addEventListener("click", () => this.toggle());
      this.find(".speed").addEventListener("change", (event) => {
        this.audio.forEach((audio) => { audio.playbackRate = Number(event.target.value); });
      });
      this.element.querySelectorAll("[data-solo]").forEach((button) => button.addEventListener("click", () => {
        const channel = Number(button.dataset.solo);
        this.mix.solo = this.mix.solo === channel ? null : channel;
        this.applyMix();
      }));
      this.element.querySelectorAll("[data-mute]").forEach((button) => button.addEventListener("click", () => {
        const channel = Number(button.dataset.mute);
        this.mix.mute[channel] = !this.mix.mute[channel];
        this.applyMix();
      }));
      this.element.querySelectorAll("[data-zoom]").forEach((button) => button.addEventListener("click", () => {
        const [from, to] = this.view;
        if (button.dataset.zoom === "fit") this.look(0, this.duration);
        else this.zoom(button.dataset.zoom === "in" ? (to - from) / 2 : (to - from) * 2);
      }));
      this.canvases.forEach((canvas) => canvas.addEventListener("click", (event) => {
        const share = event.offsetX / canvas.clientWidth;
        this.seek(this.view[0] + share * (this.view[1] - this.view[0]));
      }));
      this.element.addEventListener("keydown", (event) => {
        if (event.target !== this.element) return;
        if (event.key === " ") this.toggle();
        else if (event.key === "ArrowLeft") this.seek(this.at - STEP_MS);
        else if (event.key === "ArrowRight") this.seek(this.at + STEP_MS);
        else return;
        event.preventDefault();
      });
      this.audio.forEach((audio) => {
        audio.addEventListener("ended", () => this.pause());
        audio.addEventListener("error", () => { this.find(".selection").textContent = "the sound file cannot be played"; });
      });
      new ResizeObserver(() => this.draw()).observe(this.element);
      document.addEventListener("callm-theme", () => this.draw());
    }

    get playing() { return this.audio.some((audio) => !audio.paused); }

    toggle() { if (this.playing) this.pause(); else this.play(); }

    async play() {
      if (!this.audio.length) return;
      if (this.at >= this.duration - 50) this.seek(0);
      Player.all.forEach((other) => { if (other !== this) other.pause(); });
      try {
        await Promise.all(this.audio.map((audio) => audio.play()));
      } catch { this.pause(); return; }
      this.setButton(true);
      const tick = () => {
        if (!this.playing) return;
        const [first, second] = this.audio;
        if (Math.abs(first.currentTime - second.currentTime) > MAX_DRIFT_S) second.currentTime = first.currentTime;
        this.move(first.currentTime * 1000);
        requestAnimationFrame(tick);
      };
      requestAnimationFrame(tick);
    }

    pause() {
      this.audio.forEach((audio) => audio.pause());
      this.setButton(false);
    }

    setButton(playing) {
      const [sign, word] = playing ? ["❚❚", " Pause"] : ["▶", " Play"];
      const icon = document.createElement("span");
      icon.ariaHidden = "true";
      icon.textContent = sign;
      this.find(".play").replaceChildren(icon, word);
    }

    applyMix() {
      this.audio.forEach((audio, channel) => {
        const alone = this.mix.solo;
        audio.muted = alone !== null ? channel !== alone : this.mix.mute[channel];
      });
      this.element.querySelectorAll("[data-solo]").forEach((b) => b.setAttribute("aria-pressed", Number(b.dataset.solo) === this.mix.solo));
      this.element.querySelectorAll("[data-mute]").forEach((b) => b.setAttribute("aria-pressed", this.mix.mute[Number(b.dataset.mute)]));
    }

    seek(ms) {
      const at = Math.min(Math.max(ms, 0), this.duration);
      this.audio.forEach((audio) => { audio.currentTime = at / 1000; });
      this.move(at);
    }

    move(ms) {
      this.at = ms;
      this.element.dataset.at = Math.round(ms);
      this.find(".now").textContent = clock(ms);
      const [from, to] = this.view;
      if (ms < from || ms > to) this.look(ms - (to - from) * 0.1, ms + (to - from) * 0.9);
      this.follow();
      this.draw();
    }

    follow() {
      const now = this.rows.filter(({ t0, t1 }) => this.at >= t0 - 50 && this.at < Math.max(t1, t0 + 400)).pop();
      this.rows.forEach((entry) => { if (entry.row) entry.row.classList.toggle("now", entry === now); });
      if (!now || !now.row || this.last === now) return;
      this.last = now;
      const box = now.row.parentElement;
      if (box.scrollHeight <= box.clientHeight) return;
      const top = now.row.offsetTop - box.offsetTop;
      if (top < box.scrollTop + 40 || top + now.row.offsetHeight > box.scrollTop + box.clientHeight) box.scrollTop = top - box.clientHeight / 3;
    }

    zoom(width) {
      const size = Math.min(Math.max(width, MIN_WINDOW_MS), this.duration);
      const middle = this.at >= this.view[0] && this.at <= this.view[1] ? this.at : (this.view[0] + this.view[1]) / 2;
      this.look(middle - size / 2, middle + size / 2);
    }

    look(from, to) {
      const size = Math.min(to - from, this.duration);
      const start = Math.min(Math.max(from, 0), this.duration - size);
      this.view = [start, start + size];
      this.draw();
    }

    choose(t0, t1, what, lead) {
      this.chosen = t1 > t0 ? [t0, t1] : null;
      this.element.dataset.chosen = this.chosen ? `${Math.round(t0)} ${Math.round(t1)}` : "";
      this.find(".selection").textContent = what || "";
      const [from, to] = this.view;
      if (this.chosen && ((t1 - t0) / (to - from) < 0.05 || t0 < from || t1 > to)) {
        const size = Math.max((t1 - t0) * 4, 10000);
        this.look((t0 + t1 - size) / 2, (t0 + t1 + size) / 2);
      }
      this.seek(t0 - (lead || 0));
    }

    x(ms, width) { return (ms - this.view[0]) / (this.view[1] - this.view[0]) * width; }

    draw() {
      const style = getComputedStyle(document.documentElement);
      const colour = (name) => style.getPropertyValue(name).trim();
      this.canvases.forEach((canvas, channel) => {
        const ratio = window.devicePixelRatio || 1, width = canvas.clientWidth, height = canvas.clientHeight;
        if (!width) return;
        if (canvas.width !== Math.round(width * ratio)) canvas.width = Math.round(width * ratio);
        if (canvas.height !== Math.round(height * ratio)) canvas.height = Math.round(height * ratio);
        const pen = canvas.getContext("2d");
        pen.setTransform(ratio, 0, 0, ratio, 0, 0);
        pen.clearRect(0, 0, width, height);
        this.drawChosen(pen, width, height, colour);
        pen.fillStyle = colour(channel ? "--agent" : "--caller");
        if (this.levels) this.drawLevels(pen, width, height, this.levels[channel]);
        pen.fillStyle = colour("--fail");
        this.data.marks.filter((mark) => mark.kind === "loss" && mark.channel === channel).forEach((mark) => {
          const x0 = this.x(mark.t, width);
          pen.fillRect(x0, height - 5, Math.max(2, this.x(mark.t + mark.len, width) - x0), 5);
        });
        pen.fillStyle = colour("--ink");
        pen.fillRect(this.x(this.at, width) - 0.5, 0, 1, height);
      });
      this.drawMarks();
    }

    drawChosen(pen, width, height, colour) {
      if (!this.chosen) return;
      const x0 = this.x(this.chosen[0], width), x1 = Math.max(this.x(this.chosen[1], width), x0 + 2);
      pen.fillStyle = colour("--highlight");
      pen.fillRect(x0, 0, x1 - x0, height);
      pen.fillStyle = colour("--highlight-edge");
      pen.fillRect(x0 - 1, 0, 2, height);
      pen.fillRect(x1 - 1, 0, 2, height);
    }

    drawLevels(pen, width, height, values) {
      const bucket = this.data.peaks.bucket_ms, perPixel = (this.view[1] - this.view[0]) / width;
      for (let x = 0; x < width; x++) {
        const first = Math.floor((this.view[0] + x * perPixel) / bucket);
        const last = Math.max(first + 1, Math.floor((this.view[0] + (x + 1) * perPixel) / bucket));
        let level = 0;
        for (let n = first; n < last && n < values.length; n++) if (values[n] > level) level = values[n];
        const size = Math.max(1, level / 255 * (height - 4));
        pen.fillRect(x, (height - size) / 2, 1, size);
      }
    }

    drawMarks() {
      const track = this.find(".track");
      const signs = { tool: "▲", handoff: "◆", keypad: "#", "barge-in": "⨯", loss: "▮", late: "┆" };
      if (!this.marks) {
        this.marks = this.data.marks.map((mark) => {
          // There can be hundreds of losses: these are for the eye and the mouse, and are counted in the legend.
          const button = document.createElement(mark.len ? "span" : "button");
          if (!mark.len) button.type = "button";
          button.className = `mark ${mark.kind}`;
          if (mark.len) button.classList.add("wide");
          else button.textContent = signs[mark.kind] || "•";
          button.title = `${clock(mark.t)} ${mark.label}`;
          button.setAttribute("aria-label", button.title);
          button.addEventListener("click", () => this.choose(mark.t, mark.t + (mark.len || 0), mark.label, 500));
          track.append(button);
          return { mark, button };
        });
        this.element.querySelectorAll(".mark-key").forEach((key) => {
          const count = this.data.marks.filter((mark) => key.classList.contains(mark.kind)).reduce((sum, mark) => sum + (mark.n || 1), 0);
          if (count) key.append(` ${count}`);
          else key.hidden = true;
        });
        this.cursor = document.createElement("span");
        this.cursor.className = "cursor";
        track.append(this.cursor);
      }
      const width = track.clientWidth;
      this.marks.forEach(({ mark, button }) => {
        const x = this.x(mark.t, width);
        button.hidden = x + (mark.len ? this.x(mark.t + mark.len, width) - x : 0) < 0 || x > width;
        button.style.display = button.hidden ? "none" : "";
        button.style.left = `${x}px`;
        if (mark.len) button.style.width = `${Math.max(3, this.x(mark.t + mark.len, width) - x)}px`;
      });
      this.cursor.style.left = `${this.x(this.at, width)}px`;
    }
  }
  Player.all = [];

  document.querySelectorAll(".player").forEach((element) => {
    const data = (window.CALLM_CALL || {})[element.dataset.call];
    if (data) Player.all.push(new Player(element, data));
  });

  const playerOf = (element) => {
    const scope = element.closest("[data-scope]");
    const id = element.dataset.for || (scope && scope.dataset.scope);
    return Player.all.find((player) => player.element.dataset.call === id) || Player.all[0];
  };
  document.addEventListener("click", (event) => {
    const button = event.target.closest("button.seek");
    if (!button) return;
    const player = playerOf(button);
    if (!player) return;
    document.querySelectorAll("button.chosen").forEach((other) => other.classList.remove("chosen"));
    button.classList.add("chosen");
    const { t0, t1, what, lead } = button.dataset;
    player.choose(Number(t0), Number(t1), what || "", Number(lead || 0));
  });
  document.addEventListener("keydown", (event) => {
    if (event.key !== " " || event.target !== document.body || !Player.all.length) return;
    event.preventDefault();
    Player.all[0].toggle();
  });
  const asked = /^#t=(\d+)$/.exec(location.hash);
  if (asked && Player.all.length) Player.all[0].choose(Number(asked[1]), Number(asked[1]), "", 0);
  document.querySelectorAll("[data-tabs]").forEach((group) => {
    const tabs = [...group.querySelectorAll("[role=tab]")];
    const open = (chosen) => tabs.forEach((tab) => {
      tab.setAttribute("aria-selected", tab === chosen);
      tab.tabIndex = tab === chosen ? 0 : -1;
      document.getElementById(tab.getAttribute("aria-controls")).hidden = tab !== chosen;
      Player.all.forEach((player) => { player.pause(); player.draw(); });
    });
    tabs.forEach((tab, index) => {
      tab.addEventListener("click", () => open(tab));
      tab.addEventListener("keydown", (event) => {
        const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
        if (!step) return;
        const next = tabs[(index + step + tabs.length) % tabs.length];
        next.focus();
        open(next);
      });
    });
    if (tabs.length) open(tabs[0]);
  });
  window.CALLM_PLAYERS = Player.all;
})();
