#!/bin/bash
# Fills a cache with real packages for the row 'npm', once: npm.sh DIR. DIR/p is a project with a lock file, DIR/c the cache
# that 'npm ci --offline' needs for it. Only this asks the npm registry.
set -eu

dir=$1
[[ ! -e $dir/.done ]] || exit 0
command -v npm >/dev/null || { echo 'npm is not installed (make deps-bench)' >&2; exit 1; }
rm -rf "$dir"
mkdir -p "$dir/p"
echo '{ "name": "p", "version": "1.0.0", "private": true, "dependencies":
	{ "express": "4.19.2", "mocha": "10.4.0", "eslint": "8.57.0" } }' >"$dir/p/package.json"
cd "$dir/p"
{
	timeout 600 npm install --package-lock-only --no-audit --no-fund --cache "$dir/c"
	timeout 600 npm ci --ignore-scripts --no-audit --no-fund --cache "$dir/c"
	rm -rf node_modules
	npm ci --ignore-scripts --offline --no-audit --no-fund --cache "$dir/c" # the cache is enough
} >"$dir/log" 2>&1 || { echo "not from the npm registry: $(grep -m 1 'npm error' "$dir/log")" >&2; exit 1; }
rm -rf node_modules "$dir/c/_logs"
chmod -R a+rX "$dir"
touch "$dir/.done"
