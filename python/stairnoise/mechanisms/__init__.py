"""The mechanisms that add noise, each in its own file."""
