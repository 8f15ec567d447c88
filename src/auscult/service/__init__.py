"""`auscult serve`: indexes over HTTP, and the page for people. `search` and `index` do the work."""
