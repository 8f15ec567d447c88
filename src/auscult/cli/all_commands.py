"""All commands at once, for tests and for the page of commands; `main` imports the one that is asked for."""

from auscult.cli.main import application

app = application()
