"""Handle files of any content: atomic writing, digests, unpacking, and reading by lines and rows."""
