"""Tables and pages, made from call folders only."""
