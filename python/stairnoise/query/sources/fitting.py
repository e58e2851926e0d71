"""The types that a condition needs, for columns whose type nobody declared."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import product

from stairnoise._errors import ParameterError
from stairnoise.query.condition import Name, judged
from stairnoise.query.reading import Declared, TypeName, declared

_TRIED: tuple[TypeName, ...] = ("text", "real", "date", "timestamp", "boolean")
# Three columns take a fifth of a second.
_MOST_COLUMNS = 3


def fitting(
    condition: str,
    columns: Sequence[str],
    known: Mapping[str, Declared],
    column_of: Callable[[str, bool], str | None],
    remedy: Callable[[str], str],
) -> dict[str, Declared]:
    """Return the only type that fits each column of a condition, except for those that are known.

    Raises
    ------
    ParameterError
        The condition is refused whatever the types are, or a column can have several.
    """
    types: dict[str, TypeName] = {}

    def name_of(word: str, quoted: bool) -> Name | None:
        found = column_of(word, quoted)
        if found is None:
            return None
        return Name(known[found].name if found in known else types.setdefault(found, "text"), found)

    def refused() -> ParameterError | None:
        try:
            judged(condition, list(columns), name_of, remedy)
        except ParameterError as error:
            return error
        return None

    first = refused()
    fits: dict[str, set[TypeName]] = {name: set() for name in types}
    for chosen in product(_TRIED, repeat=len(fits)) if len(fits) <= _MOST_COLUMNS else ():
        types.update(zip(fits, chosen, strict=True))
        if refused() is None:
            for name, type_ in types.items():
                fits[name].add(type_)
    if first is not None and len(fits) <= _MOST_COLUMNS and not all(fits.values()):
        raise first
    # A comparison with 1 or 'true' fits bools too, which are such numbers and texts, and one with a text fits timestamps too.
    fits = {name: found - {"boolean", "timestamp"} or found for name, found in fits.items()}
    for name, found in fits.items():
        if len(found) != 1:
            raise ParameterError(
                f"types must have {name!r}, because where does not decide it, and a frame's dtypes can follow its rows: for "
                f"example types={{{name!r}: 'text'}}"
            )
    return {name: declared(name, found.pop()) for name, found in fits.items()}
