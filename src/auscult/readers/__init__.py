"""Files in any shape, read into drafts of documents: one file a format, each bytes in, drafts with offsets out."""
