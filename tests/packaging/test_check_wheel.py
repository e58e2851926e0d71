"""scripts/check_wheel.py accepts a correct wheel, and names the fault of a wrong one.

The wheels are made up here; `make wheels` runs the script, auditwheel and abi3audit on real wheels.
"""

import zipfile
from pathlib import Path

import pytest

from scripts import check_wheel

VERSION = check_wheel.version()
GOOD = f"stairnoise-{VERSION}-cp310-abi3-manylinux2014_x86_64.manylinux_2_17_x86_64.whl"
INFO = f"stairnoise-{VERSION}.dist-info"
CONTENTS = {
    *check_wheel.sources(),
    "stairnoise/_native.abi3.so",
    f"{INFO}/METADATA",
    f"{INFO}/licenses/LICENSE-APACHE",
    f"{INFO}/licenses/LICENSE-MIT",
}


def wheel(folder: Path, contents: set[str], name: str = GOOD) -> Path:
    path = folder / name
    with zipfile.ZipFile(path, "w") as archive:
        for member in sorted(contents):
            archive.writestr(member, "")
    return path


def test_the_package_s_types_are_among_what_must_be_in_it() -> None:
    assert {"stairnoise/py.typed", "stairnoise/_native.pyi", "stairnoise/data/marital_race.csv"} <= check_wheel.sources()


@pytest.mark.parametrize(
    "name",
    [
        GOOD,
        f"stairnoise-{VERSION}-cp314-cp314t-manylinux2014_aarch64.manylinux_2_17_aarch64.whl",
        f"stairnoise-{VERSION}-cp310-abi3-musllinux_1_2_x86_64.whl",
        f"stairnoise-{VERSION}-cp310-abi3-macosx_11_0_arm64.whl",
        f"stairnoise-{VERSION}-cp310-abi3-win_amd64.whl",
    ],
)
def test_a_right_wheel(tmp_path: Path, name: str) -> None:
    path = wheel(tmp_path, CONTENTS, name)
    checks = (check_wheel.problems_of_name, check_wheel.problems_of_size, check_wheel.problems_of_contents)
    assert [problem for check in checks for problem in check(path)] == []


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        (f"stairnoise-{VERSION}-cp311-cp311-manylinux_2_17_x86_64.whl", "neither the stable ABI"),
        (f"stairnoise-{VERSION}-cp314-cp313t-manylinux_2_17_x86_64.whl", "neither the stable ABI"),
        (f"stairnoise-{VERSION}-cp310-abi3-linux_x86_64.whl", "no manylinux or musllinux tag"),
        ("stairnoise-0.0.0-cp310-abi3-win_amd64.whl", "its version is 0.0.0"),
    ],
)
def test_a_wrong_name(name: str, problem: str) -> None:
    (found,) = check_wheel.problems_of_name(Path(name))
    assert problem in found


@pytest.mark.parametrize(
    ("contents", "problem"),
    [
        (CONTENTS - {"stairnoise/py.typed"}, "stairnoise/py.typed is missing"),
        (CONTENTS | {"stairnoise/__pycache__/rng.pyc"}, "stairnoise/__pycache__/rng.pyc should not be in it"),
        (CONTENTS | {"tests/conftest.py"}, "tests/conftest.py should not be in it"),
        (CONTENTS - {"stairnoise/_native.abi3.so"}, "it has 0 built modules"),
        (CONTENTS | {"stairnoise/_native.cpython-311-x86_64-linux-gnu.so"}, "it has 2 built modules"),
        (CONTENTS - {f"{INFO}/licenses/LICENSE-MIT"}, "LICENSE-MIT is missing"),
    ],
)
def test_wrong_contents(tmp_path: Path, contents: set[str], problem: str) -> None:
    assert check_wheel.problems_of_contents(wheel(tmp_path, contents)) == [problem]


@pytest.mark.parametrize("folder", [check_wheel.ROOT, Path.home() / ".cargo"], ids=["checkout", "crates"])
def test_a_folder_of_this_machine(tmp_path: Path, folder: Path) -> None:
    path = wheel(tmp_path, CONTENTS)
    assert check_wheel.problems_of_paths(path) == []
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("stairnoise/x", f"panicked at {folder}/src/lib.rs")
    assert check_wheel.problems_of_paths(path) == ["stairnoise/x names a folder of this machine"]


def test_the_size(tmp_path: Path) -> None:
    path = tmp_path / GOOD
    path.write_bytes(bytes(3 * 2**20))
    assert check_wheel.problems_of_size(path) == []
    path.write_bytes(bytes(3 * 2**20 + 1))
    assert check_wheel.problems_of_size(path) == ["it has 3145729 bytes, more than 3145728"]


RIGHT = {"overall_tag": "manylinux_2_17_x86_64", "external_libs": {}, "unsupported_isa": False}


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({}, None),
        ({"overall_tag": "manylinux_2_5_x86_64"}, None),
        ({"overall_tag": "manylinux_2_34_x86_64"}, "it needs manylinux_2_34_x86_64, and its name promises less"),
        ({"overall_tag": "linux_x86_64"}, "it needs linux_x86_64, and its name promises less"),
        ({"external_libs": {"libssl.so.3": None}}, "it needs libraries that manylinux does not have: libssl.so.3"),
        ({"unsupported_isa": True}, "it was compiled for instructions that the architecture's baseline lacks"),
    ],
)
def test_auditwheel_s_report(change: dict[str, object], problem: str | None) -> None:
    assert check_wheel.problems_of_report(RIGHT | change, GOOD) == ([] if problem is None else [problem])


@pytest.mark.parametrize(
    ("machine", "needed", "platform", "problem"),
    [
        ("EM_X86_64", ["libc.so"], "musllinux_1_2_x86_64", None),
        ("EM_AARCH64", ["libc.musl-aarch64.so.1"], "musllinux_1_2_aarch64", None),
        ("EM_AARCH64", ["libc.so.6", "libpthread.so.0"], "manylinux_2_17_aarch64", None),
        ("EM_X86_64", ["libc.so.6"], "musllinux_1_2_x86_64", "it needs libc.so.6, which is not musl's"),
        ("EM_X86_64", ["libc.so"], "musllinux_1_2_aarch64", "its module is for x86_64, but its name has another processor"),
    ],
)
def test_the_module(machine: str, needed: list[str], platform: str, problem: str | None) -> None:
    found = check_wheel.problems_of_module(machine, needed, f"stairnoise-1-cp310-abi3-{platform}.whl")
    assert found == ([] if problem is None else [problem])
