// Events of one call, as they come, to rows: who said, heard and played what; tools, handoffs, barge-ins.
// All words are text of models, recognisers and callers: they are set as text, never as markup.
(() => {
  "use strict";
  const LONGEST = 400;
  const clip = (text) => (text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text);
  const args = (values) => Object.entries(values).map(([name, value]) => `${name}=${JSON.stringify(value)}`).join(" · ");

  window.CALLM_CLOCK = (ms) => {
    const tenths = Math.round(Math.max(0, ms) / 100);
    const two = (n) => String(n).padStart(2, "0");
    return `${two(Math.floor(tenths / 600))}:${two(Math.floor(tenths / 10) % 60)}.${tenths % 10}`;
  };

  class LiveTranscript {
    constructor(table, onSeek) {
      this.table = table;
      this.onSeek = onSeek;
      this.rows = [];
      this.unheard = null;       // the caller's row that no recogniser has answered yet
      this.agents = new Map();   // inference → its row
      this.sentences = new Map();
      this.roles = new Map();
      this.tools = new Map();
      this.started = null;
      this.ended = null;
    }

    take(event) {
      const handle = this[`on_${event.type}`];
      if (handle) handle.call(this, event);
    }

    row(kind, tMs, who, cells) {
      const row = document.createElement("div");
      row.className = `row ${kind}`;
      row.setAttribute("role", "row");
      const when = this.cell(row, "when");
      const button = document.createElement("button");
      button.type = "button";
      button.className = "seek";
      button.addEventListener("click", () => this.onSeek(made.tMs));
      when.append(button);
      const made = { row, tMs, button, cells: {} };
      this.cell(row, "who").append(...who);
      for (const name of cells) made.cells[name] = this.cell(row, name);
      this.setTime(made, tMs);
      this.rows.push(made);
      this.table.append(row);
      return made;
    }

    cell(row, name) {
      const cell = document.createElement("span");
      cell.setAttribute("role", "cell");
      cell.className = name;
      if (["said", "heard", "played"].includes(name)) cell.dataset.label = name;
      row.append(cell);
      return cell;
    }

    setTime(made, tMs) {
      made.tMs = tMs;
      made.button.textContent = window.CALLM_CLOCK(tMs);
    }

    party(name, role) {
      const party = document.createElement("span");
      party.className = `party ${name}`;
      const shape = document.createElement("span");
      shape.className = "shape";
      shape.setAttribute("aria-hidden", "true");
      shape.textContent = name === "caller" ? "●" : "■";
      party.append(shape, ` ${name}`);
      if (role) {
        const part = document.createElement("span");
        part.className = "role";
        part.textContent = ` ${role}`;
        party.append(part);
      }
      return [party];
    }

    say(cell, words) {
      if (!words) return;
      const text = document.createElement("bdi");
      text.textContent = (cell.firstChild ? " " : "") + words;
      cell.append(text);
    }

    caller(tMs) {
      return this.row("turn caller", tMs, this.party("caller"), ["said", "heard", "played"]);
    }

    note(kind, tMs, what, words) {
      const made = this.row(`note ${kind}`, tMs, [what], ["wide"]);
      made.cells.wide.textContent = words;
      return made;
    }

    on_call_started(e) { this.started = e; }

    on_utterance_started(e) {
      // A person's words are not known: what is spoken until a recogniser has answered is one row.
      if (!e.said && this.unheard) return;
      const made = this.caller(e.t_ms);
      this.say(made.cells.said, e.said);
      this.unheard = made;
    }

    on_transcript_ready(e) {
      const made = this.unheard || this.caller(e.t_ms);
      this.unheard = null;
      this.say(made.cells.heard, e.heard || (e.rejected ? `(nothing: ${e.rejected.replaceAll("_", " ")})` : "(nothing)"));
    }

    on_dtmf_sent(e) { this.note("keys", e.t_ms, "keys", `pressed ${e.digits}`); }

    on_inference_started(e) { this.roles.set(e.inference_id, e.role); }

    on_sentence_ready(e) {
      this.sentences.set(e.sentence_id, e.inference_id);
      let made = this.agents.get(e.inference_id);
      if (!made) {
        made = this.row("turn agent", e.t_ms, this.party("agent", this.roles.get(e.inference_id)), ["said", "heard", "played"]);
        made.waits = true;
        this.agents.set(e.inference_id, made);
      }
      this.say(made.cells.said, e.text);
    }

    on_playout_started(e) {
      const made = this.agents.get(this.sentences.get(e.sentence_id));
      if (!made || !made.waits) return;
      made.waits = false;
      this.setTime(made, e.t_ms);
    }

    on_playout_ended(e) {
      const made = this.agents.get(this.sentences.get(e.sentence_id));
      if (made) this.say(made.cells.played, e.cut ? `${e.played} –` : e.played);
    }

    on_barge_in(e) {
      const lost = `over the agent; ${Math.round(e.dropped_ms)} ms were never played`;
      this.note("barge-in", e.t_ms, "⨯ barge-in", `the caller speaks ${e.dropped_ms > 0 ? lost : "before the agent has answered"}`);
    }

    on_tool_started(e) {
      const made = this.row("tool", e.t_ms, ["▲ tool"], ["wide"]);
      const name = document.createElement("code");
      name.textContent = e.name;
      const given = document.createElement("span");
      given.className = "args";
      given.textContent = ` ${clip(args(e.args))} `;
      const result = document.createElement("span");
      made.cells.wide.append(name, given, result);
      this.tools.set(e.call_id, result);
    }

    on_tool_finished(e) {
      const result = this.tools.get(e.call_id);
      if (!result) return;
      result.className = e.ok ? "ok" : "bad";
      result.textContent = e.ok ? "→ ok" : `→ not ok: ${clip(String(e.error || e.output.error_code || "no reason given"))}`;
    }

    on_handed_off(e) {
      const made = this.row("handoff", e.t_ms, ["◆ handoff"], ["wide"]);
      made.cells.wide.textContent = `${e.from_role} → ${e.to_role}`;
    }

    on_failed(e) { this.note("failed", e.t_ms, "failed", clip(`${e.stage}: ${e.message}`)); }

    on_call_ended(e) {
      this.ended = e;
      this.note("ended", e.t_ms, "ended", `${e.reason.replaceAll("_", " ")}${e.detail ? `: ${clip(e.detail)}` : ""}`);
    }

    // Marks where the sound is; rows after it are still to come. The row, if it has changed.
    at(tMs) {
      let now = null;
      for (const made of this.rows) {
        const ahead = made.tMs > tMs;
        made.row.classList.toggle("ahead", ahead);
        if (!ahead && (!now || made.tMs >= now.tMs)) now = made;
      }
      if (now === this.now) return null;
      if (this.now) this.now.row.classList.remove("now");
      if (now) now.row.classList.add("now");
      this.now = now;
      return now && now.row;
    }
  }
  window.CALLM_TRANSCRIPT = LiveTranscript;
})();
