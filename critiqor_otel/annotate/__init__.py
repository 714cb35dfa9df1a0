"""Verdicts as spans of the traces they are about."""
