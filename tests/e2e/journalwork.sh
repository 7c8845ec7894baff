# Real work in cells with a journal: everything that differs afterwards has a writer there, every program that ran is in it, and
# nothing is invented. shellcheck shell=bash

work() {
	own_vivd
	python3 "$E2E_DIR/journalwork.py" "$VIV" "$PWD" "$1"
}

for w in make git python tar attributes agent; do
	check "$w: files and programs of a journal are those of the work @r" work "$w"
done
check 'dpkg: files and programs of a journal are those of the work' work dpkg
if command -v npm >/dev/null; then
	check 'npm: files and programs of a journal are those of the work' work npm
else
	skip 'npm: files and programs of a journal are those of the work' 'npm is not installed'
fi
