"""The tests, one folder for each kind of evidence. They are a package because some benchmark peers install one named `tests`."""
