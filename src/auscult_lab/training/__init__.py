"""Training without labels: labels, examples, losses, the loop, and experiment files."""
