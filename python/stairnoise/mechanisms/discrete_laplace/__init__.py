"""The discrete laplace mechanism."""
