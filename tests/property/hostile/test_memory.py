"""The memory that noise is written to, and requests beyond all memory."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import stairnoise as sn
from tests.property.hostile.calls import EXAMPLES
from tests.property.hostile.pool import BEYOND_MEMORY
from tests.property.strategies import views

DRAWN = [mechanism for mechanisms in EXAMPLES.values() for mechanism in mechanisms if hasattr(mechanism, "sample")]
MECHANISMS = [mechanism for mechanism in DRAWN if hasattr(mechanism, "release") and hasattr(mechanism, "mean")]
SCALAR = [mechanism for mechanism in MECHANISMS if np.shape(mechanism.mean()) == ()]


def seeded():
    return sn.SeededRng(5, allow_release=True)


@given(st.data(), st.sampled_from(SCALAR))
def test_any_view_gets_the_noise_and_the_releases_of_a_contiguous_array(data, mechanism):
    """test_layouts has this for four mechanisms; this test has all mechanisms of single numbers."""
    dtype = data.draw(st.sampled_from(mechanism._dtypes))
    out = data.draw(views(dtype))
    assert mechanism.sample(out=out, rng=seeded()) is out
    assert np.array_equal(out, mechanism.sample(out.shape, dtype=dtype, rng=seeded()))
    values = np.arange(out.size, dtype=np.float64).reshape(out.shape)
    assert mechanism.release(values, out=out, rng=seeded()) is out
    assert np.array_equal(out, np.asarray(mechanism.release(values, rng=seeded())).astype(dtype))


@given(st.sampled_from(SCALAR), st.integers(1, 5000), st.integers(-3, 3), st.integers(1, 3))
def test_release_into_memory_that_overlaps_the_values(mechanism, n, shift, step):
    """The result is the same as if the values were copied first."""
    memory = np.arange(3 * n + 7.0)
    values = memory[3 : 3 + n * step : step]
    expected = mechanism.release(values.copy(), rng=seeded())
    out = memory[3 + shift : 3 + shift + n]
    assert mechanism.release(values[: out.size], out=out, rng=seeded()) is out
    assert np.array_equal(out, expected)


@pytest.mark.parametrize("mechanism", [sn.StaircaseSelection(1.0, sensitivity=1), sn.ExponentialMechanism(1.0, sensitivity=1)])
def test_selection_into_the_memory_of_its_costs(mechanism):
    costs = np.arange(24.0).reshape(8, 3) % 5
    expected = mechanism.select(costs.copy(), rng=seeded())
    out = costs[:, 1].view(np.int64)
    assert mechanism.select(costs, out=out, rng=seeded()) is out
    assert np.array_equal(out, expected)


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=lambda mechanism: type(mechanism).__name__)
def test_a_file_that_is_mapped_into_memory(mechanism, tmp_path):
    for offset in (0, 1):  # aligned, and not
        expected = mechanism.sample((5, *np.shape(mechanism.mean())), dtype="f8", rng=seeded())
        if isinstance(mechanism, sn.MultivariateStaircase):
            expected = mechanism.sample(5, rng=seeded())
        mapped = np.memmap(tmp_path / f"{offset}", np.float64, "w+", offset=offset, shape=expected.shape)
        assert mechanism.sample(out=mapped, rng=seeded()) is mapped
        assert np.array_equal(mapped, expected)
        values = np.memmap(tmp_path / f"values{offset}", np.float64, "w+", offset=offset, shape=expected.shape)
        values[...] = 3.0
        values.flush()
        released = mechanism.release(values, rng=seeded())
        assert np.array_equal(released, mechanism.release(np.full(expected.shape, 3.0), rng=seeded()))
        read_only = np.memmap(tmp_path / f"{offset}", np.float64, "r", offset=offset, shape=expected.shape)
        before = read_only.tobytes()
        with pytest.raises(sn.ParameterError, match=r"^out must be writable"):
            mechanism.sample(out=read_only, rng=seeded())
        assert read_only.tobytes() == before


SIZES = [BEYOND_MEMORY, (BEYOND_MEMORY, 3), (2**25, 2**25), 2**59, (2**31, 2**31, 2), 2**62, 2**63 - 1, 2**63, 2**64, 10**5000,
         (2**40, 0, 2**40), (0, 2**63)]  # fmt: skip


@pytest.mark.parametrize("size", SIZES, ids=range(len(SIZES)))
def test_sizes_beyond_memory_draw_nothing(size):
    for mechanism in DRAWN:
        rng = seeded()
        draw = (
            mechanism.sample
            if hasattr(mechanism, "release")
            else lambda *args, mechanism=mechanism, **options: mechanism.sample([1.0, 2.0], *args, **options)
        )
        with pytest.raises((MemoryError, sn.ParameterError)) as caught:
            draw(size, rng=rng)
        assert isinstance(caught.value, MemoryError) or str(caught.value).startswith("size must be ")
        assert rng._stream.fill_count == 0
        assert draw((0, 2, 3) if getattr(mechanism, "_parameter_shape", ()) else (0,), rng=rng).size == 0


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=lambda mechanism: type(mechanism).__name__)
def test_values_beyond_memory_draw_nothing(mechanism):
    rng = seeded()
    for one in (1.5, np.float32(1.5), np.int64(3), np.uint8(3), np.array(1.5, ">f8")):
        with pytest.raises(MemoryError):
            mechanism.release(np.broadcast_to(one, (BEYOND_MEMORY, 2, 3)), rng=rng)
    assert rng._stream.fill_count == 0
