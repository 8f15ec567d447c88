"""Scorers without training: BM25 and related ones, weighted cosine, and any encoder as a scorer."""
