#!/bin/sh
# The dependencies: licences, sources, unargued or doubled crates (deny.toml), advisories, and what has a newer compatible release.
#
#   scripts/audit.sh        exit 1 if a check that ran has found something; the last lines name the checks that were not run
#
#   OFFLINE=1     leaves out what asks an advisory service
set -u

cd "$(dirname "$0")/.."
log=$(mktemp)
trap 'rm -f "$log"' EXIT
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

# --- crates, by cargo-deny
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
    # What Cargo.toml does not allow is for information.
    grep -E '^ *Unchanged .*\(available: ' "$log"
else
    skip 'newer releases of crates: the registry was not reached'
fi

# --- Python packages: NumPy is what users get, the rest is a developer's
say 'pip-audit: advisories of Python packages'
if [ -n "${OFFLINE:-}" ]; then
    skip 'advisories of Python packages: OFFLINE is set'
elif ! command -v "${PIP_AUDIT:-pip-audit}" >/dev/null; then
    skip 'pip-audit, for advisories of Python packages: pip install pip-audit'
elif "${PIP_AUDIT:-pip-audit}" --skip-editable --path "$(.venv/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')" >"$log" 2>&1; then
    cat "$log"
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
