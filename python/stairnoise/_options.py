"""Options that methods share, for type checkers: signatures take them as ``**options: Unpack[...]``."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import TYPE_CHECKING, Literal

from stairnoise.rng import Rng

if TYPE_CHECKING:
    from typing_extensions import Required as Required
    from typing_extensions import TypedDict as TypedDict
    from typing_extensions import Unpack as Unpack

    from stairnoise._parameters import RealLike
    from stairnoise.keyed.rng import KeyedRng as KeyedRng

    class DrawOptions(TypedDict, total=False):
        """Options of every method that draws."""

        rng: Rng | None
        threads: int | None

    class SelectOptions(DrawOptions, total=False):
        """Options of ``select`` and ``sample`` of mechanisms that select."""

        multiplicities: RealLike | None

    class ReleaseOptions(TypedDict, total=False):
        """Arguments of every ``release`` other than the values, `columns` and `out`."""

        nulls: Literal["refuse", "zero", "keep"]
        labels: object
        statistic: str | Sequence[str] | None
        max_partitions_contributed: int
        rng: Rng | KeyedRng | None
        threads: int | None

    class ModuloOptions(DrawOptions, total=False):
        """Arguments of ``release_modulo`` other than the values, the modulus and `out`."""

        max_partitions_contributed: int

    class FrameOptions(ReleaseOptions, total=False):
        """Arguments of a release of columns."""

        columns: Iterable[Hashable] | None

else:
    # Names in annotations, which nobody evaluates.
    DrawOptions = FrameOptions = KeyedRng = ModuloOptions = ReleaseOptions = Required = SelectOptions = TypedDict = Unpack = None
