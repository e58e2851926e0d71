"""The truncated laplace mechanism."""
