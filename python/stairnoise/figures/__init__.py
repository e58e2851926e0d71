"""Pictures of mechanisms; they need Matplotlib, the extra ``plot``.

No name of this package is public. Users call `stairnoise.plot_release`, and the methods that are named ``plot``.

- `mechanism`: one mechanism on one pair of axes.
- `release`: released values.
- `table`: a private table.
- `style`: colours, lines and sizes, and files that are the same in every run.
"""

from stairnoise._lazy import load_on_demand

load_on_demand(__name__)
