# More words for themes, besides those of tests/e2e/lib.sh: none yet.
# shellcheck shell=bash
