"""The rules by which `PartitionSelection` shows groups, one file each, and the choice between them."""
