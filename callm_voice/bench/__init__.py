"""Plan and run calls; the only room above the call that sees gold."""
