"""Corpora: one file per source or kind of source, and opening one by name or path."""
