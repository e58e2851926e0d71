"""Mechanisms are values: they never change, and mechanisms with equal arguments are equal."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import wraps
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

import numpy as np

from stairnoise._errors import arguments_of, meant
from stairnoise._native import Named, __version__
from stairnoise._parameters import refuse
from stairnoise._types import Generic, Self

Mechanism = TypeVar("Mechanism")
Found = TypeVar("Found")


def once(method: Callable[[Mechanism], Found]) -> Callable[[Mechanism], Found]:
    """Make a method whose result a mechanism of scalar parameters computes at the first call only.

    Arrays are computed at each call, because a caller may change them.
    """
    name = method.__name__

    @wraps(method)
    def cached(self: Any) -> Any:
        try:
            return self._cached[name]
        except (AttributeError, KeyError):
            pass
        found = method(self)
        if self._parameter_shape == ():
            object.__setattr__(self, "_cached", {**getattr(self, "_cached", {}), name: found})
        return found

    return cached


def of_this_version(is_private: Callable[..., bool], arguments: tuple[Any, ...], found: Found, version: str) -> Found | None:
    """Return the calibration of a pickle, which must be enough for its mechanism's arguments; None if another version made it."""
    if version != __version__:
        return None
    refuse("the calibration of a pickle", found, is_private(*arguments, found), "enough for its eps and delta")
    return found


def setters(kind: type, *slots: str) -> Iterator[Callable[[Any, Any], None]]:
    """Return the functions that set these slots; `object.__setattr__` searches all base classes first, which takes longer."""
    return (vars(kind)[slot].__set__ for slot in slots)


if TYPE_CHECKING:

    class Parameter(Generic[Found]):
        """A property: the constructor's argument of this name. Its type is written in brackets, as in ``Parameter[float]``."""

        def __init__(self, doc: str) -> None: ...
        def __get__(self, mechanism: Any, kind: Any) -> Found: ...

else:

    class Parameter(property):
        def __init__(self, doc):
            super().__init__()
            self.__doc__ = doc  # a subclass of `property` does not show the `doc` of its constructor

        def __set_name__(self, kind, name):
            doc = self.__doc__
            super().__init__(lambda mechanism: mechanism._parameters[name])
            self.__doc__ = doc

        def __class_getitem__(cls, kind):
            return cls


class Immutable(Named):
    """An object whose equality, hash, pickle and text come from its constructor's arguments."""

    __slots__ = ()

    # The names of the constructor's arguments, and these arguments, unless the class has a `_named_arguments` of its own.
    _known: frozenset[str]
    _parameters: dict[str, Any]

    if not TYPE_CHECKING:

        def __class_getitem__(cls, parameters: object) -> type:
            """Ignore type parameters, such as those of ``Laplace[float]``."""
            return cls

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if cls.__module__.startswith("stairnoise.mechanisms."):
            cls.__module__ = "stairnoise"  # whence users import it
        if "__init__" in vars(cls):
            cls._known = frozenset(arguments_of(cls.__init__))

    @classmethod
    def _unknown(cls, name: str) -> str:
        """Return the error text for an unknown argument, with the name that was probably meant."""
        return f"{cls.__name__}() got an unexpected keyword argument {name!r}{_meant(cls, name, arguments_of(cls.__init__))}"

    def _named_arguments(self) -> dict[str, Any]:
        """Return the constructor's arguments by name, in its order."""
        return self._parameters

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"{type(self).__name__} is immutable: make a new one to set {name}")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"{type(self).__name__} is immutable: {name} cannot be deleted")

    def __deepcopy__(self, memo: object = None) -> Self:
        return self

    __copy__ = __deepcopy__

    def _made_by(self) -> tuple[Any, tuple[Any, ...]]:
        """Return a function and arguments that make an equal object."""
        return type(self), tuple(self._named_arguments().values())

    def __reduce__(self) -> tuple[Any, ...]:
        return self._made_by()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Immutable) or type(self) is not type(other):
            return NotImplemented
        return self._key() == other._key()

    def __hash__(self) -> int:
        return hash((type(self), *self._key()))

    def __repr__(self) -> str:
        arguments = ", ".join(f"{name}={display(value)}" for name, value in self._shown_arguments().items())
        return f"{type(self).__name__}({arguments})"

    def _shown_arguments(self) -> dict[str, Any]:
        """Return the arguments that the ``repr`` shows: all but a sensitivity that was not stated."""
        return {name: value for name, value in self._named_arguments().items() if name != "sensitivity" or value is not None}

    def _key(self) -> tuple[object, ...]:
        return tuple(map(comparable, self._named_arguments().values()))


def _meant(cls: Any, name: str, known: tuple[str, ...]) -> str:
    if hasattr(cls, "from_eps") and name in arguments_of(cls.from_eps.__func__):
        return f"; {cls.__name__}.from_eps takes it"
    return meant(name, known)


def comparable(argument: Any) -> object:
    """Return a stand-in for the argument that can be compared and hashed."""
    if isinstance(argument, np.ndarray):
        return argument.shape, argument.tobytes()
    return argument


def display(argument: Any) -> str:
    """Return text that evaluates back to the argument; NumPy's own repr would round or abbreviate."""
    if not isinstance(argument, np.ndarray):
        return repr(argument)
    if argument.size == 0:
        return f"array([]).reshape({argument.shape})"
    return f"array({argument.tolist()!r})"
