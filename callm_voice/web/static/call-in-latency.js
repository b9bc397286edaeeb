// TTFT and voice to voice of each turn, from the events as they come; at the end what the record measured.
(() => {
  "use strict";
  class Latency {
    constructor(body) {
      this.body = body;
      this.turns = new Map();       // turn → its cells
      this.inferences = new Map();  // inference → when it started, and its turn
      this.speechEnd = new Map();   // turn → end of the caller's speech by the VAD
    }

    take(event) {
      const handle = this[`on_${event.type}`];
      if (handle) handle.call(this, event);
    }

    turn(id) {
      if (!this.turns.has(id)) {
        const row = this.body.insertRow();
        const cells = { name: row.insertCell(), ttft: row.insertCell(), v2v: row.insertCell() };
        cells.name.textContent = id === 0 ? "greeting" : String(id);
        cells.ttft.className = cells.v2v.className = "num";
        this.turns.set(id, cells);
      }
      return this.turns.get(id);
    }

    on_vad_stopped(e) { this.speechEnd.set(e.turn_id, e.last_speech_ms); }

    on_inference_started(e) { this.inferences.set(e.inference_id, e); }

    on_inference_mark(e) {
      const started = this.inferences.get(e.inference_id);
      if (e.mark !== "first_token" || !started) return;
      const cell = this.turn(started.turn_id).ttft;
      const ms = String(Math.round(e.t_ms - started.t_ms));
      cell.textContent += (cell.textContent ? " + " : "") + ms;
    }

    on_playout_started(e) {
      const { v2v } = this.turn(e.turn_id);
      const end = this.speechEnd.get(e.turn_id);
      if (!v2v.textContent && end !== undefined) v2v.textContent = `≈ ${Math.round(e.t_ms - end)}`;
    }

    measured(v2v) {
      for (const [id, cells] of this.turns) cells.v2v.textContent = id in v2v ? String(v2v[id]) : "–";
    }
  }
  window.CALLM_LATENCY = Latency;
})();
