"""Read documents from files, tables and corpora, and write indexes of them: build, update, remove."""
