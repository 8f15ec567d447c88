"""`auscult serve`: indexes over HTTP, and the page for people. Thin: it asks `search` and `index`."""
