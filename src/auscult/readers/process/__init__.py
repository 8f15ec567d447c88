"""The reading process: files are read in processes with limits, and drafts come back as data."""
