# Files of a cell over vivd's API: filesapi.py has the steps. shellcheck shell=bash

# Each test has a vivd of its own with a cell 'work', which it ends.
files() { # step of filesapi.py, its words...
	export XDG_DATA_HOME=$PWD/data XDG_RUNTIME_DIR=$PWD/run XDG_STATE_HOME=$PWD/state
	mkdir -p data run state
	at_end 'timeout 120 "$VIV" daemon stop'
	timeout 120 "$VIV" daemon start
	timeout 600 python3 "$E2E_DIR/filesapi.py" "$VIV" "$XDG_RUNTIME_DIR/vivarium/vivd.sock" "$@"
}

check 'files: content, ranges, modes, owners @r' files content
check 'files: 200 MiB in and out by their hash, in little memory @r' files big
check 'files: a writer is atomic, and one that goes away leaves nothing @r' files atomic
check 'files: names of every byte, links, listing 5,000 @r' files names
check 'files: FIFOs, devices, /proc, loops, files that grow and shrink @r' files odd
check 'files: mkdir, move, remove @r' files changes
check 'files: scopes of tokens, states of the cell @r' files rights
check 'files: a token that may only look sees stored files only @r' files stored
check 'files: trees as archives, out and in @r' files archives
check 'files: archives that want to get out @r' files hostile_tar
check 'files: a watcher sees what changes @r' files watch
check 'files: somebody else speaks for viv-files @r' files stranger
check 'files: of a cell that ends meanwhile @r' files ended
check 'files: of a cell that does not run @r' files stopped
check 'files: of a cell that vanishes meanwhile @r' files vanished
check 'viv cp: by the rules of docker cp, in both directions @r' files copies
check 'viv cp: a cell that wants to get out of the place it is copied to @r' files hostile_cp
