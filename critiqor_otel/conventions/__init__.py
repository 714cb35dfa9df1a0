"""How each family of instrumentations writes an agent's evidence: one table a family, and how to read spans by them."""
