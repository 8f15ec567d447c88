"""The page: search, documents, coverage, comparing and uploads rendered here and not in a browser.

Each file makes what one part of a page shows out of what the searcher says; templates only place it.
"""
