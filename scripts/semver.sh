#!/bin/sh
# What the crate's public interface broke since a commit, by cargo-semver-checks: each line belongs into CHANGELOG.md.
#
#   scripts/semver.sh [COMMIT]        the newest tag v*, if no commit is given; exit 1 if something broke that the version does not announce
set -eu

cd "$(dirname "$0")/.."
since=${1:-$(git describe --tags --abbrev=0 --match 'v*' 2>/dev/null || true)}
if [ -z "$since" ]; then
    echo 'There is no release to compare with: name a commit, make semver SINCE=COMMIT.' >&2
    exit 1
fi
PATH="$PWD/target/tools/bin:$PATH"
if ! command -v cargo-semver-checks >/dev/null; then
    echo 'not run: cargo install --locked --root target/tools cargo-semver-checks' >&2
    exit 1
fi
# `probe` is no part of the public interface.
exec cargo semver-checks --package stairnoise --baseline-rev "$since" --default-features --features rand
