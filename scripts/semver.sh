#!/bin/sh
# Lists what broke in the crate's public interface since a commit, by cargo-semver-checks. Every line belongs in CHANGELOG.md.
#
#   scripts/semver.sh [COMMIT]        the newest tag v* by default; exit 1 if the version does not announce a break
#
# Installs cargo-semver-checks into target/tools if it is missing, which takes minutes.
set -eu

cd "$(dirname "$0")/.."
since=${1:-$(git describe --tags --abbrev=0 --match 'v*' 2>/dev/null || true)}
if [ -z "$since" ]; then
    echo 'NOT RUN: there is no release to compare with; since a commit: make semver SINCE=COMMIT'
    exit 0
fi
PATH="$PWD/target/tools/bin:$PATH"
command -v cargo-semver-checks >/dev/null || cargo install --quiet --locked --root target/tools cargo-semver-checks
# The feature `probe` is not part of the public interface.
exec cargo semver-checks --package stairnoise --baseline-rev "$since" --default-features --features rand
