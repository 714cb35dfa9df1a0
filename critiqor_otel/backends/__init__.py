"""Traces asked of a back end that keeps them: Jaeger, Tempo."""
