"""What is publicly known of models: how much fits into their windows, and what their tokens cost."""
