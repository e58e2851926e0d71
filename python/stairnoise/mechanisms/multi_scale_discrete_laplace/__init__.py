"""The multi scale discrete laplace mechanism."""
