"""Dask gives the answers that `release` of an array gives, however it cuts, repeats or loses work.

Evidence: equality; negative controls, in which unkeyed noise fails the same check.
"""

import os
import signal
import time

import pytest

import stairnoise as sn
from stairnoise.engines import release_part
from tests.engines.table import COUNTS, EXPECTED, KEYED, LABELS, MECHANISM, STATISTIC, one_answer, persons

pd = pytest.importorskip("pandas")
dd = pytest.importorskip("dask.dataframe")

ARGUMENTS = (MECHANISM, KEYED, "g", "n", STATISTIC)
TEXT = {"label_type": "text"}


def counted(partitions):
    table = pd.DataFrame({"g": LABELS, "n": COUNTS}).sample(frac=1, random_state=partitions)
    return dd.from_pandas(table, npartitions=partitions, sort=False)


def rows(frame, **options):
    """Return the rows of a frame, with None for pandas' own markers of a missing label."""
    table = frame.compute(**options)
    return [(None if pd.isna(label) else label, *answers) for label, *answers in table.itertuples(index=False)]


partitions = pytest.mark.parametrize("partitions", [1, 3, 7])


@partitions
@pytest.mark.parametrize("scheduler", ["synchronous", "threads"])
def test_every_partitioning_has_the_same_answers(partitions, scheduler):
    frame = counted(partitions).map_partitions(release_part, *ARGUMENTS, **TEXT)
    assert frame.npartitions == partitions
    assert frame.dtypes.equals(counted(partitions).dtypes)
    for _ in range(2):
        assert one_answer(rows(frame, scheduler=scheduler)) == EXPECTED
    assert one_answer(rows(frame.repartition(npartitions=2), scheduler=scheduler)) == EXPECTED


def noisy_part(part):
    """Add fresh noise, as any unkeyed function does."""
    return part.assign(n=MECHANISM.release(part["n"].to_numpy(), rng=sn.SecureRng()))


@partitions
def test_unkeyed_noise_fails_the_same_check(partitions):
    """All 40 answers are the same twice with probability below 1e-50."""
    table = counted(partitions)
    frame = table.map_partitions(noisy_part, meta=dict(table.dtypes))
    found = rows(frame, scheduler="synchronous") + rows(frame, scheduler="synchronous")
    with pytest.raises(AssertionError, match="labels have several answers"):
        one_answer(found)


def test_counted_by_dask_itself():
    frame = dd.from_pandas(pd.DataFrame({"g": persons()}), npartitions=4)
    table = frame.groupby("g", dropna=False).size().rename("n").reset_index()
    released = table.map_partitions(release_part, *ARGUMENTS, **TEXT)
    assert one_answer(rows(released, scheduler="synchronous")) == EXPECTED


def secret_of_workers():
    return os.environ["STAIRNOISE_TEST_SECRET"].encode()


def test_types_are_known_without_the_secret():
    """Only workers can fetch the secret; `meta` specifies the returned types."""
    keyed = sn.KeyedRng(secret_of_workers, "r")
    table = counted(3)
    frame = table.map_partitions(release_part, MECHANISM, keyed, "g", "n", STATISTIC, **TEXT, meta=dict(table.dtypes))
    assert frame.dtypes.equals(table.dtypes)
    with pytest.raises(KeyError, match="STAIRNOISE_TEST_SECRET"):
        frame.compute(scheduler="synchronous")


def test_a_plan_has_one_name():
    """Dask recognises equal work by its name; `__dask_tokenize__` computes the name without the secret."""
    frames = [counted(3).map_partitions(release_part, *ARGUMENTS, **TEXT) for _ in range(2)]
    assert frames[0]._name == frames[1]._name
    other = sn.KeyedRng(KEYED._fetch, "persons 2026-Q4")
    assert counted(3).map_partitions(release_part, MECHANISM, other, "g", "n", STATISTIC, **TEXT)._name != frames[0]._name


@pytest.mark.long
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="a worker is killed as POSIX does it")
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("keyed", [True, False], ids=["keyed", "unkeyed"])
def test_a_worker_that_is_killed(keyed):
    """The other worker recomputes the answers of the killed one; about 20 seconds.

    Unkeyed, the recomputed answers are the old ones with probability below 1e-5.
    """
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        table = counted(7)
        if keyed:
            frame = table.map_partitions(release_part, *ARGUMENTS, **TEXT)
        else:
            frame = table.map_partitions(noisy_part, meta=dict(table.dtypes))
        frame = frame.persist()
        distributed.wait(frame)
        before = rows(frame)
        os.kill(next(iter(client.run(os.getpid).values())), signal.SIGKILL)
        time.sleep(2)
        found = before + rows(frame)
    if keyed:
        assert one_answer(found) == EXPECTED
    else:
        with pytest.raises(AssertionError, match="labels have several answers"):
            one_answer(found)
