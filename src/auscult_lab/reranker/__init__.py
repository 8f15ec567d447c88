"""The re-ranker's training: a transformer that reads question and passage together learns from titles and headings."""
