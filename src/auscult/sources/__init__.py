"""Sources of documents: files of any kind, JSON lines, tables, and corpora that extensions register."""
