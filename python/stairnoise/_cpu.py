"""The instruction sets that the kernels use; no value depends on them."""

from stairnoise import _native

# Raises an error if STAIRNOISE_CPU names an instruction set that this machine cannot run: users who
# force an instruction set must know which one they measured or tested.
_native.cpu_tier()


def cpu_tiers() -> list[str]:
    """List the instruction sets that this machine can run, slowest first.

    The last one is used, unless the environment variable STAIRNOISE_CPU named another when
    stairnoise was imported.

    Examples
    --------
    >>> import stairnoise as sn
    >>> sn.cpu_tiers()[0]
    'portable'
    """
    return _native.cpu_tiers()


cpu_tiers.__module__ = "stairnoise"
