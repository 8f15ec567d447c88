"""The command line with all commands, for tests and for the page of commands. `application` imports only one."""

from auscult.cli.application import application

app = application()
