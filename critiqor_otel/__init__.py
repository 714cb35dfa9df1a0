"""Agent evidence as OpenTelemetry, and any agent's traces as sessions and diagnoses."""
