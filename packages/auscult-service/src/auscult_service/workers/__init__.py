"""Worker processes that compute the answers of a service, so that it uses all cores."""
