"""The figures on the pages."""
