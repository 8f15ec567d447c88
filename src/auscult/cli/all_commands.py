"""All commands at once, for tests and for the page of commands; `application` imports the one that is asked for."""

from auscult.cli.application import application

app = application()
