"""Spans of any order and origin become one session a run: join logs, mend, group, read facts, assemble."""
