"""The addresses of the API, a file a subject. Routes are plain functions, which a bounded number of threads run."""
