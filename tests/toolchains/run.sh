#!/bin/bash
# End-to-end tests of toolchains, servers and coding agents in cells. Prints one TAP stream.
#
#   tests/toolchains/run.sh BUILD_DIR VIV [pattern]     pattern: part of a theme's or of a test's name
#
# Themes, words and the runner are those of tests/e2e; lib.sh adds some. What comes from the npm registry is fetched on the
# host's side once (a cell has no network) and kept in BUILD_DIR/toolchains. A test whose program is not installed fails:
# 'tools/deps toolchains' installs them all. One whose packages the registry does not give is a skip.
set -u
here=$(cd "$(dirname "$0")" && pwd)
if [[ $# -lt 2 || $# -gt 3 ]]; then
	echo "usage: $0 BUILD_DIR VIV [pattern]" >&2
	exit 2
fi
mkdir -p "$1/toolchains" || exit 2
TOOLCHAINS_CACHE=$(cd "$1/toolchains" && pwd)
export TOOLCHAINS_CACHE E2E_THEMES=$here
exec "$here/../e2e/run.sh" "$@"
