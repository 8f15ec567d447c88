"""The `auscult` command: one file a command, registered in `main`."""
