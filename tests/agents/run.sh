#!/bin/bash
# Real coding agents in cells, with a model that follows a script (tests/e2e/model.py). Prints one TAP stream.
#
#   tests/agents/run.sh BUILD_DIR VIV [pattern]     pattern: part of a test's name, such as that of an agent
#
# Words and runner are those of tests/e2e. Each agent is installed with 'viv agent add', from the npm registry, once: images stay in
# BUILD_DIR/agents. Where the registry does not give a package, the agent's tests are skips.
set -u
here=$(cd "$(dirname "$0")" && pwd)
if [[ $# -lt 2 || $# -gt 3 ]]; then
	echo "usage: $0 BUILD_DIR VIV [pattern]" >&2
	exit 2
fi
mkdir -p -m 700 "$1/agents" || exit 2
AGENTS_CACHE=$(cd "$1/agents" && pwd)
export AGENTS_CACHE E2E_THEMES=$here
exec "$here/../e2e/run.sh" "$@"
