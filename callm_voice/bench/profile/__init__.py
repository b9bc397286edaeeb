"""A latency profile of one model, without a benchmark: prompts, plan, measurement, statistics."""
