# Sessions of agents: sessions.py is the client, acpagent.py the agent, which does what it is told. shellcheck shell=bash

case_of() { python3 "$E2E_DIR/sessions.py" "$VIV" "$PWD" "$1"; }
check 'prompts, updates of every kind, and what is told of a session @r' case_of basic
check 'files and terminals of the cell, for its agent' case_of served
check 'permission requests are approvals, and outlive vivd @r' case_of permissions
check 'kill -9 of vivd loses nothing and doubles nothing' case_of survives
check 'agents that end, that never get ready, and whose cell ends' case_of crashes
check 'cancelled, closed, removed with the cell' case_of cancels
check 'modes, models, options, content, authentication, commands without ACP' case_of settings
check 'noise, lines of 100 MB, answers to nothing, floods' case_of misbehaves
check 'many clients see the same; search; other cells' case_of watchers
check 'cells that are removed with many sessions' case_of removal

check 'input of every length, and requests with ids of every kind' case_of borders
check 'cells that cannot start are removed with their sessions' case_of unstartable

# vivd's own directory is a small file system, which is filled.
lost() {
	mkdir -p small/state
	mount -t tmpfs -o size=24M,mode=700 none small/state
	at_end "umount -l '$PWD/small/state'"
	python3 "$E2E_DIR/sessions.py" "$VIV" "$PWD/small" lost
}
check 'a full disk of vivd loses no event and doubles none @root' lost

# The keeper's directory is a small file system of its own, which is filled.
full() {
	mkdir -p small/run
	mount -t tmpfs -o size=24M,mode=700 none small/run
	at_end "umount -l '$PWD/small/run'"
	python3 "$E2E_DIR/sessions.py" "$VIV" "$PWD/small" full
}
check 'a full disk stops an agent and loses nothing @root' full
