"""The order in which a person's groups count, for answers that repeat."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from stairnoise.keyed.rng import KeyedRng

_LABEL = "order of each person's groups"


def order_of(keyed: KeyedRng) -> bytes:
    """Return what `Source.answers` orders groups by, from the secret and the release name of a generator.

    The guarantee does not rest on it: at most `max_groups` groups of a person count in any order. It must not depend on
    the data, so that another person's rows do not change which groups count.
    """
    return bytes.fromhex(keyed.fingerprint([0], [_LABEL]))
