"""A whole benchmark: the plan, its workers, resume, retries."""
