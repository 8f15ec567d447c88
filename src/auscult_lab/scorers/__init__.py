"""Scorers without training: BM25 and its kin, weighted cosine, and any encoder as a scorer."""
