"""What went wrong in an agent's run, told from its session file alone."""
