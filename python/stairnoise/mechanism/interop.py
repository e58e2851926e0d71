"""Mechanisms in the form that other libraries expect."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from stairnoise.mechanism.additive import AdditiveMechanism


def as_scipy(self: AdditiveMechanism) -> Any:
    """Return the noise as a frozen distribution of `scipy.stats`.

    To protect data use `release`; this object is for study. Its functions are the mechanism's closed forms, so
    SciPy's tools (``expect``, ``kstest``, ``goodness_of_fit`` ...) have their accuracy. Its ``rvs`` calls
    `sample` with a `SeededRng`, whose seed comes from SciPy's ``random_state``; draws are reproducible.

    Returns
    -------
    scipy.stats.rv_frozen
        `Staircase` and `Laplace` have shapes ``eps`` (and ``gamma``), and the sensitivity is the scale.
        `DiscreteStaircase` and `DiscreteLaplace` have shapes ``eps``, ``sensitivity`` (and ``r``). Array
        parameters broadcast as SciPy's do. SciPy divides by the scale first, which may move the edge of a
        stair by one rounding, and adds the location last. All other mechanisms have no shapes. `Arete` is
        drawn on a coarse lattice; SciPy gets every value spread evenly over the cell around it.

    Raises
    ------
    ModuleNotFoundError
        SciPy is not installed; ``pip install scipy``.

    Examples
    --------
    >>> import stairnoise as sn
    >>> frozen = sn.Staircase(eps=1, sensitivity=10).as_scipy()
    >>> round(float(frozen.cdf(5)), 6), round(float(frozen.sf(5)), 6)
    (0.72021, 0.27979)
    >>> bool((frozen.rvs(3, random_state=1) == frozen.rvs(3, random_state=1)).all())
    True
    """
    try:
        from stairnoise import _scipy
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] != "scipy":
            raise
        raise ModuleNotFoundError("as_scipy needs SciPy: pip install scipy", name="scipy") from None
    return self._frozen(_scipy)
