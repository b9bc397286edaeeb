"""From events and the recording to latency spans, percentiles and wire truth."""
