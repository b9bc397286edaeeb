"""Clock, errors, ids, events, the call record and the run folder. The only reader of the wall clock."""
