"""Addresses of PostgreSQL servers. They hold passwords, so no message and no ledger repeats one."""

from __future__ import annotations

import re

from stairnoise._errors import ParameterError

_SCHEME = re.compile(r"postgres(?:ql)?://", re.IGNORECASE)
# A password that is not written as a URL wants it would be taken for a host, a port or a database, which errors of libpq show.
_HOST = r"(?:\[[^@/?\[\]]*\]|[^@/?:,\[\]]*)(?::[0-9]*)?"
_ADDRESS = re.compile(
    rf"{_SCHEME.pattern}(?:[^@/?]*@)?(?P<hosts>{_HOST}(?:,{_HOST})*)(?P<database>/[^@?]*)?(?:\?[^@]*)?", re.IGNORECASE
)
_SECRET = re.compile(r"\w{2}:/|@|pass\w*\s*=", re.IGNORECASE)


def is_address(source: str) -> bool:
    """Tell whether a text is meant as an address, however its scheme is written."""
    return _SCHEME.match(source) is not None


def checked(source: str) -> str:
    """Return an address with its scheme in lower case, as libpq wants it; refuse one that can be read in two ways."""
    if _ADDRESS.fullmatch(source) is None:
        raise ParameterError(
            "source must be an address as postgresql://user:password@host:5432/database, in which @, /, ? and : of a password "
            "are written as %40, %2F, %3F and %3A; got another one, which is not shown because of the password"
        )
    return "postgresql://" + source[source.index("://") + 3 :]


def without_secrets(source: str) -> str:
    """Return hosts and database of an address."""
    found = _ADDRESS.fullmatch(source)
    assert found is not None
    return f"postgresql://{found['hosts'].lower()}{found['database'] or ''}"


def shown(path: str) -> str:
    """Return a path as an error shows it, unless it may be an address."""
    return "an address of no kind that is known, not shown because of passwords" if _SECRET.search(path) else repr(path)
