"""Training of the re-ranker, a transformer that reads question and passage together, from titles and headings."""
