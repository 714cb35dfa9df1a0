"""How one thing in a run led to another."""
