"""How a diagnosis is shown: tables and documents made of verdicts."""
