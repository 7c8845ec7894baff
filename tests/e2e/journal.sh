# The cell's journal: what is in it, and what processes that are killed and disks that are full do to it. shellcheck shell=bash

journal() {
	export XDG_DATA_HOME=$PWD/data XDG_RUNTIME_DIR=$PWD/run
	mkdir -p "$XDG_DATA_HOME" "$XDG_RUNTIME_DIR" && chmod 700 "$XDG_RUNTIME_DIR"
	python3 "$E2E_DIR/journal.py" "$VIV" "$PWD" "$1"
}

check 'a run has exactly the records of what it did @r' journal kinds
check 'random work from a seed: nothing is missing, nothing invented' journal models
check 'every way to change a file is recorded, with the process that did' journal writers
check 'changes by mappings, nameless files and processes that are gone are recorded' journal gaps
check 'a cell that runs again continues its journal, and nobody else writes to it' journal twice
check 'a directory of a journal that is a link, or open to others, is refused' journal links
check 'without viv-journal the records stay, and that is said once' journal missing
check 'kill -9 of the kernel: what the guest was told is in the journal' journal kernel
check 'kill -9 of the keeper: what the guest was told is in the journal' journal keeper
check 'programs of an image have the hash of their content' journal programs
check 'a full disk makes the cell wait, and nothing is lost @root' journal full_wait
check 'a cell whose journal has no room ends when it is asked to' journal full_ends
check 'a full disk with --journal-full continue leaves a hole that is counted @root' journal full_continue
