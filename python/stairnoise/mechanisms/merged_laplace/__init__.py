"""The merged laplace mechanism."""
