"""Addresses of PostgreSQL servers. They can hold passwords, so neither errors nor ledgers repeat them."""

from __future__ import annotations

import re

from stairnoise._errors import ParameterError

_SCHEME = re.compile(r"postgres(?:ql)?://", re.IGNORECASE)
# libpq would read a password that is not escaped as a host, a port or a database, and its errors show these.
_HOST = r"(?:\[[^@/?\[\]]*\]|[^@/?:,\[\]]*)(?::[0-9]*)?"
_ADDRESS = re.compile(
    rf"{_SCHEME.pattern}(?:[^@/?]*@)?(?P<hosts>{_HOST}(?:,{_HOST})*)(?P<database>/[^@?]*)?(?:\?[^@]*)?", re.IGNORECASE
)
_SECRET = re.compile(r"\w{2}:/|@|pass\w*\s*=", re.IGNORECASE)


def is_address(source: str) -> bool:
    """Return whether a text is meant as an address, whatever the case of its scheme."""
    return _SCHEME.match(source) is not None


def checked(source: str) -> str:
    """Return an address with its scheme in lower case, as libpq wants it; reject one that is ambiguous."""
    if _ADDRESS.fullmatch(source) is None:
        raise ParameterError(
            "source must be an address such as postgresql://user:password@host:5432/database, with @, /, ? and : of a password "
            "written as %40, %2F, %3F and %3A; the one received is not shown, because it may hold a password"
        )
    return "postgresql://" + source[source.index("://") + 3 :]


def without_secrets(source: str) -> str:
    """Return only the hosts and the database of an address."""
    found = _ADDRESS.fullmatch(source)
    assert found is not None
    return f"postgresql://{found['hosts'].lower()}{found['database'] or ''}"


def shown(path: str) -> str:
    """Return a path for an error, unless it can be an address with a password."""
    return "an unknown kind of address, not shown because it may hold a password" if _SECRET.search(path) else repr(path)
