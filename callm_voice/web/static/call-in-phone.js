// The telephone: microphone, one WebRTC connection with one audio stream each way, keys as telephone events, levels.
// All candidates are gathered before the offer goes out, and no server outside is asked for any.
(() => {
  "use strict";
  const GATHER_MS = 3000, KEY_MS = 120, GAP_MS = 80, LOWEST_DB = -60;

  class Phone {
    constructor(onChange) {
      this.onChange = onChange;   // (state of the connection)
      this.connection = null;
      this.stream = null;
      this.context = null;
      this.meters = {};
      this.closed = false;
    }

    // The offer, after the person has allowed the microphone; empty: they have hung up meanwhile.
    async offer(sound) {
      if (!navigator.mediaDevices) throw new Error("this page has no microphone: open it over https, or on 127.0.0.1");
      this.stream = await navigator.mediaDevices.getUserMedia({ audio: { echoCancellation: true, channelCount: 1 } });
      if (this.closed) {
        this.close();
        return "";
      }
      this.context = new AudioContext();
      this.meters.out = this.meter(this.stream);
      const connection = this.connection = new RTCPeerConnection();
      connection.addEventListener("connectionstatechange", () => this.onChange(connection.connectionState));
      connection.addEventListener("track", ({ track }) => {
        const heard = new MediaStream([track]);
        sound.srcObject = heard;
        this.meters.in = this.meter(heard);
      });
      this.sender = connection.addTrack(this.stream.getAudioTracks()[0], this.stream);
      await connection.setLocalDescription();
      await this.gathered(connection);
      return connection.localDescription.sdp;
    }

    gathered(connection) {
      return new Promise((resolve) => {
        const done = () => { if (connection.iceGatheringState === "complete") resolve(); };
        connection.addEventListener("icegatheringstatechange", done);
        setTimeout(resolve, GATHER_MS);
        done();
      });
    }

    accept(sdp) {
      return this.connection.setRemoteDescription({ type: "answer", sdp });
    }

    get hasKeys() {
      return Boolean(this.sender && this.sender.dtmf && this.sender.dtmf.canInsertDTMF);
    }

    press(key) {
      const dtmf = this.sender.dtmf;
      dtmf.insertDTMF(dtmf.toneBuffer + key, KEY_MS, GAP_MS);
    }

    mute() {
      if (this.stream) for (const track of this.stream.getTracks()) track.enabled = false;
    }

    meter(stream) {
      const analyser = this.context.createAnalyser();
      analyser.fftSize = 2048;
      this.context.createMediaStreamSource(stream).connect(analyser);
      return analyser;
    }

    // Level of "in" or "out" in dB under full scale.
    level(way) {
      const analyser = this.meters[way];
      if (!analyser) return LOWEST_DB;
      const samples = new Float32Array(analyser.fftSize);
      analyser.getFloatTimeDomainData(samples);
      const power = samples.reduce((sum, x) => sum + x * x, 0) / samples.length;
      return Math.max(LOWEST_DB, 10 * Math.log10(power + 1e-12));
    }

    close() {
      this.closed = true;
      if (this.connection) this.connection.close();
      if (this.stream) for (const track of this.stream.getTracks()) track.stop();
      if (this.context) this.context.close();
      this.connection = this.stream = this.context = this.sender = null;
      this.meters = {};
    }
  }
  window.CALLM_PHONE = Phone;
})();
