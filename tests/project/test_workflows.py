"""Checks of the workflows that need no run: named targets exist, permissions are minimal, and each states that it never ran.

`make lint` checks their form against the forge's published schema, and runs zizmor.
"""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
BY_NAME = {path.stem: path for path in WORKFLOWS}
workflows = pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)


def text(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def jobs(path: Path) -> dict[str, str]:
    """Return the text of each job by name."""
    _, name, *rest = re.split(r"^  (\w[\w-]*):\n", text(path).partition("\njobs:\n")[2], flags=re.MULTILINE)
    parts = [name, *rest]
    return dict(zip(parts[::2], parts[1::2], strict=True))


def test_there_are_workflows() -> None:
    assert [path.name for path in WORKFLOWS] == ["ci.yml", "docs.yml", "nightly.yml", "release.yml"]
    assert {"check", "windows", "tiers", "miri", "asan", "wheels", "audit"} <= set(jobs(BY_NAME["ci"]))


@workflows
def test_it_says_that_it_was_not_run(path: Path) -> None:
    assert text(path).startswith("# NEVER RUN, because GitHub was not available")


@workflows
def test_every_target_of_make_exists(path: Path) -> None:
    named = set(re.findall(r"\bmake ([a-z][a-z0-9-]*|\.venv/[a-z-]+)", re.sub(r"#.*", "", text(path))))
    named -= {"python3-venv"}  # a package that is installed beside `make`
    makefile = text(ROOT / "Makefile").replace("$(VENV)", ".venv")
    assert named
    assert {name for name in named if not re.search(rf"^{re.escape(name)}:", makefile, re.MULTILINE)} == set()


@workflows
def test_every_script_exists(path: Path) -> None:
    named = re.findall(r"(?:scripts|\.ci)/[\w.]+", text(path))
    assert [name for name in named if not (ROOT / name).is_file()] == []


@workflows
def test_every_job_ends(path: Path) -> None:
    assert [name for name, body in jobs(path).items() if "    timeout-minutes: " not in body] == []


@workflows
def test_rights(path: Path) -> None:
    """Jobs have only read permission. Publishing jobs also request an identity token and wait for approval. No secret exists."""
    assert "\npermissions:\n  contents: read\n\n" in text(path)
    assert "secrets." not in text(path)
    assert "write" not in text(path).partition("\njobs:\n")[0].partition("\non:\n")[2]
    for name, body in jobs(path).items():
        granted = re.findall(r"([\w-]+): *[\"']?write", body)
        if granted:
            assert f"    environment: {name}\n" in body
            assert granted == {"pypi": ["id-token"], "crates-io": ["id-token"], "pages": ["pages", "id-token"]}[name]


@workflows
def test_actions_are_pinned_by_commit_and_each_by_one(path: Path) -> None:
    pins = re.findall(r"uses: ([\w./-]+)@(.*)$", text(path), re.MULTILINE)
    assert pins
    assert [pin for _, pin in pins if not re.fullmatch(r"[0-9a-f]{40} # v\d+\.\d+\.\d+", pin)] == []
    assert len(set(pins)) == len({action for action, _ in pins})
    assert "before the first run, look the commits up" in text(path).partition("\nname:")[0].replace("\n# ", " ")


@workflows
def test_nothing_unpinned_is_run(path: Path) -> None:
    """The name of an image or of a script on the net can mean something else tomorrow."""
    assert re.findall(r"^ *(?:container|image|services):.*|docker://.*", text(path), re.MULTILINE) == []
    assert re.findall(r"(?:curl|wget)\b.*", text(path)) == []


@pytest.mark.parametrize(("path", "job"), [(BY_NAME["ci"], "wheels"), (BY_NAME["release"], "unix")], ids=["ci", "release"])
def test_each_platform_builds_a_wheel_and_checks_it(path: Path, job: str) -> None:
    found = jobs(path)
    assert "runner: [ubuntu-24.04, ubuntu-24.04-arm, macos-15, macos-15-intel]\n" in found[job]
    assert "- run: make wheels" in found[job]
    assert "runs-on: windows-" in found["windows"]
    order = ("maturin build", "scripts/normalise_wheel.py", "scripts/check_wheel.py", "scripts/test_installed.py")
    steps = [found["windows"].index(step) for step in order]
    assert steps == sorted(steps)


def test_publishing_waits_for_every_platform() -> None:
    for name in ("pypi", "crates-io"):
        assert "    needs: [unix, musl, reproduce, windows]\n" in jobs(BY_NAME["release"])[name]


@workflows
def test_checkouts_keep_no_token(path: Path) -> None:
    uses = re.findall(r"uses: actions/checkout@.*\n(.*)\n", text(path))
    assert all(line.strip() == "with: { persist-credentials: false }" for line in uses)
    assert text(path).count("actions/checkout") == len(uses)
