"""The rules by which `PartitionSelection` shows groups, one file each, and the choice between them."""

from stairnoise._lazy import load_on_demand

load_on_demand(__name__)
