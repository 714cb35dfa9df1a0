"""The command: one verb a file; a verb is a function that returns an exit code."""
