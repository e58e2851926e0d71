"""The multivariate staircase mechanism."""
