"""The session: one run's evidence, as data and as a file."""
