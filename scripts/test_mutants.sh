#!/bin/sh
# Mutation testing: a program with one operator, number or result changed has to fail a test. What survives is printed, and is to be killed by a
# test or argued in docs/evidence/mutants.md.
#
#   scripts/test_mutants.sh rust|python [K/N]      every N-th mutant from the K-th on; 0/32 by default, because all of them take hours
#
#   PYTHON        the interpreter with the package, its tests' packages, cosmic-ray and tree-sitter, .venv/bin/python by default
#
# rust: scripts/mutants_at_once.py. python: cosmic-ray by scripts/mutants.toml, on a copy. Both leave their logs in target/mutants.
set -eu

cd "$(dirname "$0")/.."
shard=${2:-0/32}
work=$PWD/target/mutants
mkdir -p "$work"
python=$(cd "$(dirname "${PYTHON:-.venv/bin/python}")" && pwd)/$(basename "${PYTHON:-python}")

case "${1:-}" in
rust)
    PATH=$PWD/target/tools/bin:$PATH
    for tool in cargo-mutants cargo-nextest; do
        command -v "$tool" >/dev/null || cargo install --quiet --locked --root target/tools "$tool"
    done
    # Exit 2 where cargo-mutants has a survivor, 3 where a mutant took too long, 4 where the tests fail without any.
    exec "$python" -m scripts.mutants_at_once "$shard"
    ;;
python)
    tools=$(dirname "$python")
    copy=$work/python
    rm -rf "$copy"
    mkdir "$copy"
    cp -R python tests scripts docs pyproject.toml "$copy"
    cd "$copy"
    # Before the editable package, whose place is this checkout.
    export PYTHONPATH="$copy/python" PYTHONDONTWRITEBYTECODE=1 PYTEST_DISABLE_PLUGIN_AUTOLOAD=1 PATH="$tools:$PATH"
    "$tools/cosmic-ray" baseline scripts/mutants.toml
    "$tools/cosmic-ray" init scripts/mutants.toml session.sqlite
    "$tools/cr-filter-operators" session.sqlite scripts/mutants.toml
    "$python" -m scripts.mutants_shard session.sqlite "$shard"
    "$tools/cosmic-ray" exec scripts/mutants.toml session.sqlite
    "$tools/cr-report" --surviving-only --show-diff session.sqlite
    ;;
*)
    sed -n '2,/^set/s/^# \{0,1\}//p' "$0" >&2
    exit 2
    ;;
esac
