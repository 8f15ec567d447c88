"""The commands of the service, registered by the entry-point group `auscult.commands`."""
