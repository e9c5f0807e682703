"""Search candidates and select the voting set of rules."""
