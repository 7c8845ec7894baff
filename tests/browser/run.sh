#!/bin/bash
# Previews in a real browser. Prints one TAP stream.
#
#   tests/browser/run.sh BUILD_DIR VIV [pattern]
#
# The words and the runner are those of tests/e2e; the browser is Debian's Chromium without a screen, driven over its own protocol
# (browser.py). What it showed is kept in BUILD_DIR/browser.
set -u
here=$(cd "$(dirname "$0")" && pwd)
if [[ $# -lt 2 || $# -gt 3 ]]; then
	echo "usage: $0 BUILD_DIR VIV [pattern]" >&2
	exit 2
fi
mkdir -p "$1/browser" || exit 2
BROWSER_SHOTS=$(cd "$1/browser" && pwd)
export BROWSER_SHOTS E2E_THEMES=$here
exec "$here/../e2e/run.sh" "$@"
