"""The page: search, documents, coverage, comparisons and uploads, rendered on the server.

Each file computes what one part of a page shows; templates only lay it out.
"""
