"""The front desk: packs, role prompts, tools on the call's own database, handoffs."""
