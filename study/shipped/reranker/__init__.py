"""A re-ranker learns from written questions: which of the first hits of a search answers, and by which sentence."""
