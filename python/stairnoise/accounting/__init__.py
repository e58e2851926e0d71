"""The privacy loss of one release and of many, and the budget that releases have spent.

- `losses`: the loss of one release, in the forms that several mechanisms have.
- `privacy_loss`: the class `PrivacyLoss`.
- `models`: which lattices hold, or enclose, the loss of many releases.
- `convolution`: the loss of many releases on a lattice, from those of one.
- `curve`: the privacy profile and the trade-off curve of a loss on a lattice.
- `dp_accounting`: a privacy loss on the multiples of an interval, in the form of Google's package.
- `ledger`: a ledger of the privacy budget.
"""

from stairnoise._lazy import load_on_demand

load_on_demand(__name__)
