"""Evidence becomes spans: recorded files, running agents, and what other instrumentations report."""

__all__: list[str] = []
