"""What can go wrong in a run: one failure type a module, listed in `registry`."""
