"""Where evidence rests: run folders, files that are whole or not there, sealed sessions."""
