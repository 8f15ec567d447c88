"""This project's own study, outside the package: pages of results, and the training of what is shipped (`shipped`)."""
