"""The lab's commands, one file each; entry points make them part of `auscult`."""
