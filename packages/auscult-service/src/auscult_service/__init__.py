"""The HTTP API of served indexes, the page for people, and the commands. `auscult.search` and `.ingest` do the work."""
