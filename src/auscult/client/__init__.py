"""A typed client of a served index (`auscult serve`); it knows the HTTP API alone, and nothing else of the package."""
