"""Words of a source file, taken by parsers that the readers of documents do not use, to check what those kept."""
