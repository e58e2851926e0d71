"""The lattice noise mechanism."""
