#!/bin/sh
# Checks that a wheel is made from these sources: builds one and compares the two bit by bit. Exit 0 if they are equal.
#
#   scripts/reproduce.sh                   this commit, in two clones in different folders
#   scripts/reproduce.sh WHEEL [TARGET]    this commit once, and the wheel that you have
#
# Uncommitted changes are ignored. Another version of Rust makes a different wheel, so `rustc --version` must equal the builder's.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
work=$root/target/reproduce
wheel=${1:-}
target=${2:-}
if [ -n "$wheel" ]; then
    wheel=$(cd "$(dirname "$wheel")" && pwd)/$(basename "$wheel")
fi
rm -rf "$work"
mkdir -p "$work/one" "$work/another folder/deeper"
# Both wheels are built from this commit, even if another is made meanwhile.
commit=$(git -C "$root" rev-parse HEAD)
printf 'commit %s, %s\n' "$commit" "$(rustc --version)"

# build FOLDER: builds a wheel in FOLDER from a fresh clone.
build() {
    git clone --quiet --no-hardlinks --no-checkout "$root" "$1/stairnoise"
    git -C "$1/stairnoise" checkout --quiet --detach "$commit"
    "$1/stairnoise/scripts/build_wheel.sh" "$1" ${target:+"$target"}
}

build "$work/one"
set -- "$work/one"/*.whl
if [ -n "$wheel" ]; then
    set -- "$wheel" "$1"
else
    rm -rf "$work/one/stairnoise"
    build "$work/another folder/deeper"
    set -- "$1" "$work/another folder/deeper"/*.whl
fi
sha256sum "$@" 2>/dev/null || shasum -a 256 "$@"
if cmp "$1" "$2"; then
    echo 'equal, bit for bit'
else
    python3 "$root/scripts/compare_wheels.py" "$@"
fi
