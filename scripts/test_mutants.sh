#!/bin/sh
# Mutation testing: a program with one operator, number or result changed must fail a test. Surviving mutants are printed; each needs a test that
# fails, or an argument in docs/evidence/mutants.md.
#
#   scripts/test_mutants.sh FOLDERS|python [K/N [OPTION...]]   every N-th mutant from the K-th on, 0/32 by default. FOLDERS: exact,lattice or
#                                                              kernel; options are those of scripts/mutants_at_once.py
#
#   PYTHON        the interpreter with the package, its tests' packages, cosmic-ray and tree-sitter, .venv/bin/python by default
#
# Folders of the crate are tried by scripts/mutants_at_once.py. For python, scripts/mutants_in_forks.py tries all mutants in a copy, then
# cosmic-ray tries the unnoticed ones, by scripts/mutants.toml. Results stay in target/mutants; an interrupted run continues there if the
# sources are the same.
set -eu

cd "$(dirname "$0")/.."
shard=${2:-0/32}
part=${1:-}
shift $(($# < 2 ? $# : 2))
work=$PWD/target/mutants
mkdir -p "$work"
python=$(cd "$(dirname "${PYTHON:-.venv/bin/python}")" && pwd)/$(basename "${PYTHON:-python}")

case "$part" in
exact* | kernel* | lattice*)
    PATH=$PWD/target/tools/bin:$PATH
    for tool in cargo-mutants cargo-nextest; do
        command -v "$tool" >/dev/null || cargo install --quiet --locked --root target/tools "$tool"
    done
    # Exit 2 where a mutant survived.
    exec "$python" -m scripts.mutants_at_once "$part" "$shard" "$@"
    ;;
python)
    tools=$(dirname "$python")
    copy=$work/python
    # The copy comes before the editable package, which lies in this checkout.
    export PYTHONPATH="$copy/python" PYTHONDONTWRITEBYTECODE=1 PYTEST_DISABLE_PLUGIN_AUTOLOAD=1 PATH="$tools:$PATH"
    now="$shard $(git ls-files -z python tests scripts | xargs -0 cat | sha256sum)"
    if [ "$(cat "$copy/sum" 2>/dev/null)" != "$now" ]; then
        rm -rf "$copy"
        mkdir "$copy"
        cp -R python tests scripts docs pyproject.toml "$copy"
        cd "$copy"
        "$tools/cosmic-ray" init scripts/mutants.toml session.sqlite
        "$tools/cr-filter-operators" session.sqlite scripts/mutants.toml
        "$python" -m scripts.mutants_shard session.sqlite "$shard"
        echo "$now" >sum
    fi
    cd "$copy"
    "$python" -m scripts.mutants_in_forks session.sqlite scripts/mutants.toml
    "$tools/cosmic-ray" exec scripts/mutants.toml session.sqlite
    "$tools/cr-report" --surviving-only --show-diff session.sqlite
    ;;
*)
    sed -n '2,/^set/s/^# \{0,1\}//p' "$0" >&2
    exit 2
    ;;
esac
