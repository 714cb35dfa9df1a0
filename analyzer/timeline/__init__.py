"""The index over a session's events that detectors read: built once, in one pass."""
