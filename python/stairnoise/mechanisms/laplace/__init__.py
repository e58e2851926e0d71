"""The laplace mechanism."""
