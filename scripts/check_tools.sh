#!/bin/sh
# Checks for the tools that build stairnoise. Names the first missing one in one line, and exits with 1.
#
#   scripts/check_tools.sh PYTHON        PYTHON: the interpreter to build with, a name or a path
#
# Runs before anything is installed, so it may use nothing but a POSIX shell.
set -u

python=${1:-python3}
need_python=3.10
need_rust=1.89

fail() {
    printf 'stairnoise needs %s\n' "$1" >&2
    exit 1
}

# at_least FOUND NEEDED: compare MAJOR.MINOR of both; a version that cannot be read is too old.
at_least() {
    found_major=${1%%.*}
    found_rest=${1#*.}
    found_minor=${found_rest%%[!0-9]*}
    case "$found_major$found_minor" in '' | *[!0-9]*) return 1 ;; esac
    [ -n "$found_minor" ] || return 1
    [ "$found_major" -gt "${2%%.*}" ] && return 0
    [ "$found_major" -eq "${2%%.*}" ] && [ "$found_minor" -ge "${2#*.}" ]
}

# --- Python, with the module that makes virtual environments
command -v "$python" >/dev/null 2>&1 ||
    fail "Python $need_python or newer; $python was not found. Install it from https://www.python.org, or name one: make PYTHON=/path/to/python3."
found=$("$python" -c 'import sys; print("%d.%d.%d" % sys.version_info[:3])' 2>/dev/null </dev/null)
at_least "${found:-}" "$need_python" ||
    fail "Python $need_python or newer; found ${found:-a $python that does not start}. Install it from https://www.python.org, or name one: make PYTHON=/path/to/python3."
"$python" -c 'import ensurepip, venv' >/dev/null 2>&1 </dev/null ||
    fail "Python's venv and ensurepip modules; $python $found has none. On Debian or Ubuntu: apt install python3-venv."

# --- Rust: compiler and cargo
for tool in rustc cargo; do
    command -v "$tool" >/dev/null 2>&1 ||
        fail "Rust $need_rust or newer; $tool was not found. Install it from https://rustup.rs"
    found=$("$tool" --version 2>/dev/null </dev/null)
    found=${found#"$tool "}
    found=${found%% *}
    at_least "${found:-}" "$need_rust" ||
        fail "Rust $need_rust or newer; found ${found:-a $tool that does not start}. Install it from https://rustup.rs"
done

# --- a C linker: rustc calls `cc` unless a variable names another one
if ! command -v cc >/dev/null 2>&1 && ! env | grep -q '^CARGO_TARGET_[A-Z0-9_]*_LINKER='; then
    fail "a C linker; cc was not found. On Debian or Ubuntu: apt install gcc libc6-dev; on macOS: xcode-select --install."
fi
