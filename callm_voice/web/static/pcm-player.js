// Plays interleaved 16-bit samples that arrive faster or slower than they are heard. It keeps all of them, so that a
// listener can go back; an hour at 8 kHz is 115 MB, and calls are limited to far less.
const REPORT_EVERY_S = 0.1;

class PcmPlayer extends AudioWorkletProcessor {
  constructor() {
    super();
    this.chunks = [];      // { start, pcm }: frames from `start` on
    this.total = 0;        // frames that have arrived
    this.position = 0;     // the next frame to be heard
    this.current = 0;      // index of the chunk that holds it
    this.playing = false;
    this.gains = [1, 1];
    this.peaks = [0, 0];
    this.sinceReport = 0;
    this.port.onmessage = ({ data }) => this.take(data);
  }

  take(data) {
    if (data.pcm) {
      const pcm = new Int16Array(data.pcm);
      this.chunks.push({ start: this.total, pcm });
      this.total += pcm.length / 2;
    }
    if (data.playing !== undefined) this.playing = data.playing;
    if (data.gains) this.gains = data.gains;
    if (data.seek !== undefined) {
      this.position = Math.max(0, Math.min(this.total, Math.round(data.seek)));
      this.current = 0;
    }
    this.report();
  }

  report() {
    this.sinceReport = 0;
    this.port.postMessage({ position: this.position, total: this.total, peaks: this.peaks });
    this.peaks = [0, 0];
  }

  process(_inputs, outputs) {
    const [left, right] = outputs[0];
    const frames = left.length;
    let done = 0;
    while (this.playing && done < frames && this.position < this.total) {
      while (this.position >= this.chunks[this.current].start + this.chunks[this.current].pcm.length / 2) this.current += 1;
      const { start, pcm } = this.chunks[this.current];
      const offset = this.position - start;
      const count = Math.min(frames - done, pcm.length / 2 - offset);
      for (let n = 0; n < count; n += 1) {
        const a = pcm[2 * (offset + n)] / 32768, b = pcm[2 * (offset + n) + 1] / 32768;
        if (Math.abs(a) > this.peaks[0]) this.peaks[0] = Math.abs(a);
        if (Math.abs(b) > this.peaks[1]) this.peaks[1] = Math.abs(b);
        left[done + n] = a * this.gains[0];
        right[done + n] = b * this.gains[1];
      }
      done += count;
      this.position += count;
    }
    this.sinceReport += frames;
    if (this.sinceReport >= REPORT_EVERY_S * sampleRate) this.report();
    return true;
  }
}
registerProcessor("pcm-player", PcmPlayer);
