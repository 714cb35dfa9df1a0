"""What is remembered of all runs: an embedded store of records, agents and runs, beside the runs themselves."""
