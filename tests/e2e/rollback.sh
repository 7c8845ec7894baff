# Snapshots of cells that run are forgotten. shellcheck shell=bash

# A cell that runs by itself and says in /root/beat how often, or which, of its loops it is in; its file has what it wrote last.
beating() { # name
	v run -d --name "$1" --stop-timeout 5s -- sh -c 'cat /proc/sys/kernel/random/uuid >/root/run; i=0; while :; do i=$((i+1)); echo "$i" >/root/beat.new; mv /root/beat.new /root/beat; sleep 0.05; done' >/dev/null
	soon beats "$1"
}
beats() { v exec "$1" test -s /root/beat; }
put() { v exec "$1" sh -c "echo $2 >/root/f"; }
got() { v exec "$1" cat /root/f; }

forgotten() {
	own_vivd
	beating a
	put a 1 && v snapshot a one
	put a 2 && v snapshot a two
	put a 3 && v snapshot a three
	pid=$(v inspect a | field pid)
	is "$(v snapshot --rm a two)" ''
	is "$(v snapshot --ls a)" $'one\nthree'
	exits 3 v snapshot --rm a two
	like "$(cat err)" "viv: cell 'a' has no snapshot 'two'*"
	exits 3 v fork a@two x
	is "$(v snapshot --rm --json a three)" '{"name":"three"}'
	is "$(v inspect a | field pid) $(got a)" "$pid 3" 'it goes on'
	is "$(v snapshot a two)" two 'the name is free again'
	v fork a@one b
	is "$(viv --name b -- cat /root/f)" 1
	v stop a >/dev/null
	is "$(v snapshot --ls a)" $'one\ntwo'
	v verify a >/dev/null
	v snapshot --rm a two
	v rollback a one
	is "$(viv --name a -- cat /root/f)" 1
}
check 'a snapshot is forgotten while the cell runs @r' forgotten
