"""Randomized response."""

from stairnoise._lazy import load_on_demand

load_on_demand(__name__)
