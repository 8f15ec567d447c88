"""Readers of documents that are not text, Markdown, HTML or tables; de-identification, and the check of sources."""
