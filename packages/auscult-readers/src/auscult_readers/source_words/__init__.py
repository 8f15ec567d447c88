"""Check that documents have all words of their files. The words are read by other parsers than the documents were."""
