"""The explicit choice of no noise, which no list of mechanisms has."""
