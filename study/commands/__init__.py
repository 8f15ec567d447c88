"""The commands of `python -m study`, one a file."""
