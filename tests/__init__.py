"""Evidence, by its kind. A package of its own name, for peers of the benchmarks install one named `tests` as well."""
