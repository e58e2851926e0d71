"""Flower's local mod and its wrappers for central privacy, with our noise in the place of NumPy's.

The tests are ours, of Flower's public classes: what is installed has none. The replies are made here, as a client makes them.

Evidence: `stairnoise.Gaussian` for the distribution of the noise, by the inequality of Dvoretzky, Kiefer and Wolfowitz (with
Massart's constant): a right program fails one of these checks with a probability of at most 1e-9. Our accounting for what the
standard deviations of Flower cost.
"""

import importlib.metadata
import logging
import math
from typing import Any

import numpy as np
import pytest

import stairnoise as sn
from tests.pages.test_inside import BLOCKS

pytestmark = [pytest.mark.long, pytest.mark.filterwarnings("ignore")]

flwr = pytest.importorskip("flwr", reason="Flower is not installed: scripts/test_systems.sh")

RECIPE = BLOCKS["flwr"]

WEIGHTS = 20_000
DISTANCE = math.sqrt(math.log(2 / 1e-9) / (2 * WEIGHTS))
# 20 000 weights in two layers, and a number by itself, as a temperature is.
MODEL = [np.full((100, 150), 0.25, np.float32), np.full(5_000, -1.0), np.array(2.0, np.float32)]


@pytest.fixture(autouse=True)
def _identity() -> None:
    from flwr.supercore.task_identity import TaskIdentity

    logging.getLogger("flwr").setLevel(logging.ERROR)
    TaskIdentity.run_id = TaskIdentity.task_id = TaskIdentity.node_id = 1


@pytest.fixture(name="stds")
def _stds(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Run the recipe, and return the list of standard deviations for which Flower then asks."""
    import flwr.clientapp.mod.localdp_mod as local
    import flwr.serverapp.strategy.dp_adaptive_clipping as adaptive
    import flwr.serverapp.strategy.dp_fixed_clipping as fixed

    assert len(RECIPE.strip().splitlines()) <= 10
    for module in (local, adaptive, fixed):
        # The old noise comes back after the test.
        monkeypatch.setattr(module, "add_gaussian_noise_inplace", module.add_gaussian_noise_inplace)
    names: dict[str, Any] = {}
    exec(RECIPE, names)
    asked: list[float] = []

    def listed(arrays: list[Any], std_dev: float) -> None:
        asked.append(std_dev)
        names["add_gaussian_noise_inplace"](arrays, std_dev)

    for module in (local, adaptive, fixed):
        assert module.add_gaussian_noise_inplace is names["add_gaussian_noise_inplace"]
        monkeypatch.setattr(module, "add_gaussian_noise_inplace", listed)
    return asked


def record(arrays: list[Any]) -> Any:
    from flwr.app import Array, ArrayRecord

    return ArrayRecord({str(i): Array(np.asarray(array)) for i, array in enumerate(arrays)})


def sent(arrays: list[Any], **config: float) -> Any:
    from flwr.app import ConfigRecord, Message, RecordDict

    content = RecordDict({"arrays": record(arrays), "config": ConfigRecord(config)})
    return Message(content, dst_node_id=1, message_type="train")


def replied(message: Any, arrays: list[Any]) -> Any:
    """Return a client's answer, which differs in one weight: Flower divides by the norm of the update."""
    from flwr.app import Message, MetricRecord, RecordDict

    arrays = [arrays[0].copy(), *arrays[1:]]
    arrays[0][-1, -1] += 2**-20
    metrics = MetricRecord({"num-examples": 10, "norm_bit": 1})
    return Message(RecordDict({"arrays": record(arrays), "metrics": metrics}), reply_to=message)


def of_local_mod(eps: float = 1.0, delta: float = 1e-5, model: list[Any] = MODEL) -> list[Any]:
    from flwr.clientapp.mod import LocalDpMod

    mod = LocalDpMod(clipping_norm=1.0, sensitivity=0.5, epsilon=eps, delta=delta)
    answer = mod(sent(model), None, lambda message, _: replied(message, model))
    assert not answer.has_error()
    return list(answer.content["arrays"].to_numpy_ndarrays())


def of_wrapper(name: str, noise_multiplier: float = 0.8, **given: Any) -> list[Any]:
    """One round of a wrapper around FedAvg with two clients that return the model as it was."""
    from flwr.app import ConfigRecord
    from flwr.clientapp.mod import adaptiveclipping_mod, fixedclipping_mod
    from flwr.serverapp import strategy

    class Grid:
        def get_node_ids(self) -> list[int]:
            return [1, 2]

    arguments = {"noise_multiplier": noise_multiplier, "num_sampled_clients": 2, **given}
    wrapper = getattr(strategy, f"DifferentialPrivacy{name}Clipping")(strategy.FedAvg(), **arguments)
    wrapper.configure_train(1, record(MODEL), ConfigRecord(), Grid())
    messages = [sent(MODEL, clipping_norm=2.0) for _ in range(2)]

    def client(message: Any, _: Any) -> Any:
        return replied(message, MODEL)

    mods = {"ClientSideFixed": fixedclipping_mod, "ClientSideAdaptive": adaptiveclipping_mod}
    replies = [mods[name](message, None, client) if name in mods else client(message, None) for message in messages]
    arrays, _ = wrapper.aggregate_train(1, replies)
    return list(arrays.to_numpy_ndarrays())


def check(noisy: list[Any], std: float) -> None:
    """The noise of all arrays is Gaussian with this standard deviation, and dtypes and shapes stay."""
    assert [(array.dtype, array.shape) for array in noisy] == [(array.dtype, array.shape) for array in MODEL]
    noise = np.concatenate([(new.astype(float) - old).reshape(-1) for new, old in zip(noisy, MODEL, strict=True)])[:WEIGHTS]
    levels = sn.Gaussian(std=std).cdf(np.sort(noise))
    places = np.arange(WEIGHTS + 1) / WEIGHTS
    assert max(np.max(places[1:] - levels), np.max(levels - places[:-1])) < DISTANCE
    # NumPy's noise is on no lattice.
    assert np.all(noisy[1] / sn.Gaussian(std=std).granularity % 1 == 0)
    assert noisy[-1] != MODEL[-1]


def test_the_local_mod_has_our_noise(stds: list[float]) -> None:
    noisy = of_local_mod()
    assert stds == [pytest.approx(0.5 * math.sqrt(2 * math.log(1.25e5)))]
    check(noisy, stds[0])


@pytest.mark.parametrize("name", ["ServerSideFixed", "ClientSideFixed"])
def test_wrappers_with_a_fixed_norm_have_our_noise(stds: list[float], name: str) -> None:
    noisy = of_wrapper(name, clipping_norm=2.0)
    assert stds == [0.8]
    check(noisy, 0.8)


@pytest.mark.parametrize("name", ["ServerSideAdaptive", "ClientSideAdaptive"])
def test_wrappers_with_an_adaptive_norm_have_our_noise(stds: list[float], name: str) -> None:
    noisy = of_wrapper(name, initial_clipping_norm=2.0, clipped_count_stddev=5.0)
    assert len(stds) == 1
    check(noisy, stds[0])


# Expected differences


def test_no_noise_must_be_written_out(stds: list[float]) -> None:
    """Flower takes a multiplier of 0 for no noise. Our call refuses a standard deviation of 0."""
    with pytest.raises(sn.ParameterError, match="std must be from"):
        of_wrapper("ServerSideFixed", noise_multiplier=0.0, clipping_norm=2.0)
    assert stds == [0.0]


def test_flower_neither_clips_0_d_arrays_nor_adds_noise_to_them() -> None:
    """NumPy makes a scalar of a sum of 0-d arrays, and ``array += noise`` changes a local name alone. Our recipe adds noise."""
    from flwr.clientapp.mod import LocalDpMod

    mod = LocalDpMod(clipping_norm=1.0, sensitivity=0.5, epsilon=1.0, delta=1e-5)
    answer = mod(sent(MODEL), None, lambda message, _: replied(message, [*MODEL[:2], MODEL[2] + 1000]))
    noisy = answer.content["arrays"].to_numpy_ndarrays()
    assert noisy[0][0, 0] != MODEL[0][0, 0]
    assert noisy[-1] == 1002.0


def test_integers_are_refused(stds: list[float]) -> None:
    """Flower rounds the noise of an array of integers to integers; our call refuses the array by its number."""
    with pytest.raises(sn.ParameterError, match="array 1 of arrays must have dtype"):
        of_local_mod(model=[MODEL[0], np.array(3)])
    assert len(stds) == 1


@pytest.mark.parametrize(("eps", "delta"), [(1.0, 4.1e-8), (10.0, 2.3e-5), (20.0, 1.5e-3)])
def test_the_formula_of_the_local_mod_is_false_for_a_large_epsilon(stds: list[float], eps: float, delta: float) -> None:
    """The classic formula is proven for ε < 1. These are the true δ for a stated 1e-5, by our accounting of the noise added."""
    of_local_mod(eps)
    assert sn.Gaussian(std=stds[0]).privacy_profile(eps, sensitivity=0.5) == pytest.approx(delta, rel=0.03)


def test_the_formula_of_the_local_mod_has_too_much_noise_for_a_small_epsilon(stds: list[float]) -> None:
    of_local_mod(1.0)
    assert stds[0] / sn.Gaussian(1.0, 1e-5, 0.5).sigma == pytest.approx(1.30, abs=0.005)


def test_this_is_the_pinned_version() -> None:
    assert importlib.metadata.version("flwr") == "1.42.0"
