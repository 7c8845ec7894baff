# The journal that a cell has without being asked, the process that seals those of all cells, and what becomes of old ones. shellcheck shell=bash

journal() {
	export XDG_DATA_HOME=$PWD/data XDG_RUNTIME_DIR=$PWD/run XDG_STATE_HOME=$PWD/state
	mkdir -p "$XDG_DATA_HOME" "$XDG_RUNTIME_DIR" "$XDG_STATE_HOME" && chmod 700 "$XDG_RUNTIME_DIR"
	unset VIV_JOURNAL
	python3 "$E2E_DIR/journaldefault.py" "$VIV" "$PWD" "$1"
}

check 'a cell has a journal of everything unless it is told otherwise @r' journal levels
check 'a cell that cannot have a journal runs, and says so once, if nobody asked for one @r' journal without
check 'where nobody asked for a journal a full one has a hole, and the cell goes on' journal full
check 'the journals of many short runs are sealed, also after kill -9 of their sealer' journal burst
check 'old journals go without a vivd, and what a killed run left is sealed' journal sweep
check 'cells of vivd and of its pool have journals; one that was removed on purpose is not reported as damage' journal daemon
