#!/bin/sh
# Checks the dependencies: licences, sources, unargued or doubled crates (deny.toml), advisories, and newer compatible releases.
#
#   scripts/audit.sh        exit 1 if a check finds something; the last lines name the checks that were not run
#
# Installs cargo-deny and pip-audit into target/tools if they are missing; cargo-deny takes many minutes.
#
#   OFFLINE=1     skips the checks that ask an advisory service
#   TOOLS         the folder of the tools
set -u

cd "$(dirname "$0")/.."
tools=${TOOLS:-$PWD/target/tools}
python=$tools/audit/bin/python
PATH=$tools/bin:$PATH
log=$(mktemp)
packages=$(mktemp)
trap 'rm -f "$log" "$packages" "$packages.json"' EXIT
status=0
not_run=

say() {
    printf '\n== %s\n' "$1"
}

skip() {
    echo "not run: $1"
    not_run="$not_run
  $1"
}

# Installs pip-audit if it is missing, with a pip that knows dependency groups.
pip_audit() {
    "$python" -m pip_audit --version || {
        python3 -m venv "$tools/audit" && "$python" -m pip install --quiet 'pip>=25.1' pip-audit
    }
}

# --- crates, by cargo-deny
cargo deny --version >/dev/null 2>&1 || cargo install --quiet --locked --root "$tools" cargo-deny >/dev/null 2>&1
if cargo deny --version >/dev/null 2>&1; then
    say 'cargo deny: licences and sources of all crates, and which ones the wheel is made of'
    cargo deny --all-features check licenses sources || status=1
    cargo deny --exclude-dev check bans || status=1
    say 'cargo deny: advisories'
    if [ -n "${OFFLINE:-}" ]; then
        skip 'advisories of crates: OFFLINE is set'
    elif ! cargo deny fetch db >"$log" 2>&1; then
        skip 'advisories of crates: https://github.com/rustsec/advisory-db was not reached'
    else
        cargo deny --all-features check --disable-fetch advisories || status=1
    fi
else
    skip 'cargo deny, for licences, sources, bans and advisories of crates: cargo install --locked cargo-deny'
fi

# --- crates with a newer release that Cargo.toml allows
say 'cargo update: newer compatible releases'
if cargo update --dry-run --verbose >"$log" 2>&1; then
    direct=$(cargo tree --locked --workspace --all-features --depth 1 --prefix none --format '{p}' | cut -d' ' -f1 | sort -u)
    newer=$(sed -n 's/^ *Updating \([^ ]*\) v[^ ]* -> v.*/\1/p' "$log" | sort -u)
    grep -E '^ *(Updating|Adding|Removing|Downgrading) .* v' "$log"
    for crate in $newer; do
        if echo "$direct" | grep -qx "$crate"; then
            echo "WRONG: Cargo.lock has not the newest compatible release of $crate, on which we depend directly"
            status=1
        fi
    done
    [ -n "$newer" ] || echo 'none'
    # Releases that Cargo.toml does not allow are only listed.
    grep -E '^ *Unchanged .*\(available: ' "$log"
else
    skip 'newer releases of crates: the registry was not reached'
fi

# --- Python packages that pip would choose today: users get NumPy, developers get all of them
# chosen: writes all but stairnoise to $packages, as NAME==VERSION.
chosen() {
    "$python" -m pip install --quiet --dry-run --ignore-installed --report "$packages.json" --group dev . &&
        "$python" - "$packages.json" >"$packages" <<'END'
import json, sys

for package in json.load(open(sys.argv[1]))["install"]:
    if "dir_info" not in package["download_info"]:
        print("{name}=={version}".format(**package["metadata"]))
END
}
say 'pip-audit: advisories of Python packages'
if [ -n "${OFFLINE:-}" ]; then
    skip 'advisories of Python packages: OFFLINE is set'
elif ! pip_audit >"$log" 2>&1; then
    skip "advisories of Python packages: pip install pip-audit: $(tail -n 1 "$log")"
elif ! chosen >"$log" 2>&1; then
    cat "$log"
    skip 'advisories of Python packages: pip could not choose any'
elif "$python" -m pip_audit --disable-pip --no-deps --requirement "$packages" >"$log" 2>&1; then
    # pip-audit has not failed if the index knows nothing of a package.
    unknown=$(grep -c 'could not be audited' "$log")
    grep -v 'could not be audited' "$log"
    [ "$unknown" = 0 ] || skip "advisories of $unknown of $(grep -c . "$packages") Python packages: the index had no answer"
elif grep -q '^Found .* known vulnerabilit' "$log"; then
    cat "$log"
    status=1
else
    skip "advisories of Python packages: $(tail -n 1 "$log")"
fi

if [ -n "$not_run" ]; then
    printf '\nNOT RUN:%s\n' "$not_run"
fi
exit "$status"
