"""The generalized discrete laplace mechanism."""
