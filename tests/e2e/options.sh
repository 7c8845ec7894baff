# --ulimit, --group-add and --read-only: in every form in which a cell can be described, and against root of the cell.
# shellcheck shell=bash

limits_shown='ulimit -Sn; ulimit -Hn; ulimit -Sc; ulimit -Hf; ulimit -Ss; ulimit -u'

ulimits() {
	own_vivd
	export VIV_POOL=0
	is "$(viv --ulimit nofile=100:200 --ulimit core=0 --ulimit fsize=1048576 --ulimit stack=1048576:-1 --ulimit nproc=30 -- bash -c "$limits_shown")" \
		$'100\n200\n0\n1024\n1024\n30'
	# The last one counts; children have them; nobody but root can go beyond the hard ones.
	is "$(viv --ulimit nofile=9 --ulimit nofile=20:40 -- bash -c 'bash -c "ulimit -n; ulimit -Hn"')" $'20\n40'
	is "$(viv --user agent --ulimit nofile=20:40 -- bash -c 'ulimit -n 40; ulimit -n; ulimit -n 41 2>/dev/null || echo no')" $'40\nno'
	is "$(viv --ulimit nofile=20:40 -- bash -c 'ulimit -n 100; ulimit -n')" 100
	# They hold.
	is "$(viv --ulimit nofile=8 -- python3 -c '
import os
n = 0
try:
    while True: os.open("/dev/null", os.O_RDONLY); n += 1
except OSError as e: print(e.errno)')" 24
	exits 153 viv --ulimit fsize=1000 -- dd if=/dev/zero of=/tmp/f bs=5000 count=2 status=none
	exits 137 viv --ulimit cpu=1 -- python3 -c 'import signal
signal.signal(signal.SIGXCPU, signal.SIG_IGN)
while True: pass'
	exits 152 viv --ulimit cpu=1:5 -- python3 -c 'while True: pass'
	is "$(viv --ulimit as=300000000 -- python3 -c '
try: bytearray(500 << 20); print("room")
except MemoryError: print("none")')" none
	exits 139 viv --ulimit stack=262144 -- bash -c 'f() { f; }; f'
	is "$(viv --user agent --ulimit nproc=3 -- python3 -c '
import os, time
n = 0
try:
    while True:
        if not os.fork(): time.sleep(100)
        n += 1
except OSError as e: print(e.errno, n, flush=True)
os._exit(0)')" '11 2'
	is "$(viv --ulimit core=unlimited:unlimited --ulimit rtprio=3 --ulimit nice=7 -- python3 -c 'import resource as r; print(r.getrlimit(r.RLIMIT_CORE), r.getrlimit(r.RLIMIT_RTPRIO), r.getrlimit(r.RLIMIT_NICE))')" '(-1, -1) (3, 3) (7, 7)'
	# The host has them for these processes, and for none of the cell's own, such as the one that further ones are forked from.
	"$VIV" run --name n --ulimit cpu=77 -- sh -c 'echo up; exec sleep 1000' >log &
	local bad run=$!
	soon grep -q up log
	is "$("$VIV" exec n -- sh -c 'ulimit -t')" 77
	is "$(descendants | while read -r p _; do grep -s 'Max cpu time  *77 ' "/proc/$p/limits"; done | wc -l)" 1
	kill "$run"
	wait "$run" || true
	for bad in nofile nofile= =5 nofiles=5 nofile=x nofile=5:4 nofile=5:x nofile=5: nofile=-2 nofile=-1 nofile=1048577 nofile=1:2:3 core=99999999999999999999 'core= 1' NOFILE=3; do
		exits 125 viv --ulimit "$bad" -- true
		like "$(cat err)" 'viv: --ulimit*'
	done
	exits 125 viv --ulimit nofils=5 -- true
	like "$(cat err)" "*did you mean 'nofile'*"
}
check '--ulimit: limits of the first process and its children, which hold @r' ulimits

groups() {
	is "$(viv --group-add 44 --group-add audio --group-add 7 --group-add 44 -- id -G)" '0 7 29 44'
	is "$(viv --user agent --group-add 4000000000 -- id -G)" '1000 4000000000'
	is "$(viv --user 77:88 --group-add video -- id -G)" '88 44'
	# They give what a group may do.
	mkdir d
	is "$(viv --user agent --group-add 44 -- sh -c 'grep Groups: /proc/self/status')" $'Groups:\t44 '
	is "$(viv --group-add 44 -- python3 -c '
import os
open("/tmp/f", "w").write("for the group")
os.chown("/tmp/f", 5, 44); os.chmod("/tmp/f", 0o040)
os.setresuid(77, 77, 77)
print(open("/tmp/f").read())')" 'for the group'
	exits 125 viv --group-add nosuch -- true
	like "$(cat err)" "*--group-add nosuch*/etc/group has no such group*"
	local bad
	for bad in '' a:b a,b $'a\nb' "$(printf 'x%.0s' {1..70})"; do
		exits 125 viv --group-add "$bad" -- true
		like "$(cat err)" 'viv: --group-add*'
	done
	exits 125 viv --group-add 4294967295 -- true
	# shellcheck disable=SC2046
	exits 125 viv $(printf -- '--group-add %d ' {100..132}) -- true
	# shellcheck disable=SC2046
	is "$(viv $(printf -- '--group-add %d ' {100..131}) -- id -G | wc -w)" 33
}
check '--group-add: by name and by number @r' groups

readonly_root() {
	mkdir dir
	chmod 777 dir
	v volume create vol
	is "$(viv --read-only --tmpfs /tmp --mount "$PWD/dir:/srv/host" --volume vol:/srv/vol --mount "$PWD:/srv/ro:ro" --workdir /srv -- sh -c '
		for f in /f /etc/f /root/f /srv/f /srv/ro/f /var/tmp/f /run/f; do touch $f 2>&1 | sed "s/.*: //"; done
		touch /tmp/f /srv/host/f /srv/vol/f /dev/shm/f && echo x >/dev/null && echo 0 >/proc/self/oom_score_adj && ls /srv/host /srv/vol
		findmnt -n -o OPTIONS /; touch -a /etc/passwd 2>&1 | sed "s/.*: //"')" \
		"$(printf 'Read-only file system\n%.0s' {1..7})"$'\n/srv/host:\nf\n\n/srv/vol:\nf\nro,relatime\nRead-only file system'
	# What the image's working directory and mounts need is there before.
	is "$(viv --read-only --tmpfs /not/there/yet -- sh -c 'touch /not/there/yet/f && ls /not/there')" yet
	is "$(viv --user agent --read-only -- sh -c 'touch /home/agent/x 2>&1; test -w /tmp || echo no')" "touch: cannot touch '/home/agent/x': Read-only file system"$'\nno'
	# Nothing of it stays in a named cell, which can be written to without the option.
	viv --name n -- sh -c 'echo 1 >/root/f'
	exits 2 viv --name n --read-only -- sh -c 'cat /root/f; echo 2 >/root/f'
	is "$(cat out)" 1
	is "$(viv --name n -- sh -c 'echo 3 >>/root/f; cat /root/f')" $'1\n3'
}
readonly_root_own() {
	own_vivd
	export VIV_POOL=0
	readonly_root
}
check '--read-only: the root, and nothing but the root @r' readonly_root_own

attack() {
	local how
	for how in on off eager check; do
		viv --read-only --fast "$how" --changes --mount "$P:/mnt:ro" -- /mnt/readonly_root >out 2>err
		is "$(cat out)" $'plain: tried 171\nown mounts: tried 171\nown mounts and users: tried 171\nchroot: tried 171\npivot_root: tried 99'
		is "$(cat err)" '' 'changes of the disk'
	done
	# The program can tell.
	viv --mount "$P:/mnt:ro" -- /mnt/readonly_root >out
	(($(grep -c worked out) > 50))
}
check '--read-only: root of the cell finds no way around @r' attack

# What every form of a description makes of them.
shown='ulimit -n; ulimit -Hn; id -G; touch /f 2>/dev/null || echo sealed'
want=$'50\n60\n0 44\nsealed'

lifetimes() {
	own_vivd
	v create --name a --read-only --ulimit nofile=50:60 --group-add video -- bash -c "$shown; exec sleep 1000" >/dev/null
	is "$(api /v1/cells/a | field spec.ulimits)" '{"nofile": "50:60"}'
	is "$(api /v1/cells/a | field spec.group_add)" '["video"]'
	is "$(api /v1/cells/a | field spec.read_only)" true
	logged() { [[ $(v logs a) == "$1" ]]; }
	v start a >/dev/null
	soon logged "$want"
	is "$(v exec a -- bash -c "$shown")" "$want" 'exec'
	is "$(v exec -u agent a -- bash -c 'id -G; ulimit -n')" $'1000 44\n50' 'exec as another'
	is "$(run_in a bash -c "$shown")" "$want" 'exec of the API'
	v restart a >/dev/null
	is "$(v exec a -- bash -c "$shown")" "$want" 'exec after a restart'
	# Files: as the cell has them while it runs; a stopped one is the operator's.
	echo data >f
	exits 4 v cp f a:/root/f
	like "$(cat err)" '*read-only*'
	is "$(status_of '/v1/cells/a/files?path=/root/f' -X PUT --data-binary @f)" 403
	v cp f a:/dev/shm/f
	v stop a >/dev/null
	v cp f a:/root/f
	v start a >/dev/null
	is "$(v exec a -- cat /root/f)" data
	# A limit of the cell's processes is none for viv's own helper.
	v snapshot a s >/dev/null
	v fork a b >/dev/null
	is "$(viv --name b --read-only -- sh -c 'cat /root/f; touch /f 2>/dev/null || echo sealed')" $'data\nsealed'
	v rm -f a b >/dev/null
	make_cell '{"name":"c","ulimits":{"fsize":"0"}}' >/dev/null
	v start c >/dev/null
	v cp f c:/root/f
	is "$(v exec c -- cat /root/f)" data
}
check 'the options in create, start, restart, exec, cp and fork @r' lifetimes

forms() {
	own_vivd
	v daemon start
	local c bad
	c=$(make_cell '{"start":true,"read_only":true,"ulimits":{"nofile":"50:60"},"group_add":["44"]}')
	is "$(run_in "$c" bash -c "$shown")" "$want" 'JSON'
	c=$(make_cell '{"start":true,"read_only":false,"ulimits":{},"group_add":[]}')
	is "$(run_in "$c" sh -c 'touch /f && id -G')" 0
	for bad in '"ulimits":{"nofile":5}' '"ulimits":{"nofile":"5:4"}' '"ulimits":{"nofiles":"5"}' '"ulimits":{"":"5"}' '"ulimits":["nofile=5"]' '"ulimits":{"nofile":""}' \
		'"ulimits":{"nofile":"1e3"}' '"read_only":"yes"' '"read_only":1' '"group_add":"video"' '"group_add":[44]' '"group_add":["a:b"]' '"group_add":[""]' \
		"\"group_add\":[$(printf '"%d",' {1..40})\"0\"]"; do
		is "$(status_of /v1/cells -d "{$bad}")" 400 "$bad"
	done
	# A name that only the cell could know fails with the start.
	is "$(status_of /v1/cells -d '{"start":true,"group_add":["nosuch"]}')" 422
	# They cannot change while a cell is there.
	is "$(status_of "/v1/cells/$c" -X PATCH -d '{"read_only":true}')" 400
	cat >vivarium.yaml <<-EOF
		cells:
		  web:
		    command: [sleep, "1000"]
		    read_only: true
		    ulimits: {nofile: "\${SOFT:-50}:60", core: 0}
		    group_add: [44, audio]
		    files:
		      - {path: /root/f, content: given}
	EOF
	v up >/dev/null
	is "$(v exec "$(v ps -q --filter label=vivarium.cell=web | head -n 1)" -- bash -c "$shown; ulimit -c; cat /root/f")" $'50\n60\n0 29 44\nsealed\n0\ngiven'
	v down >/dev/null
	sed -i 's/nofile: .*:60"/nofile: 5:4/' vivarium.yaml
	exits 2 v up
	like "$(cat err)" '*soft limit*above the hard limit*'
}
check 'the options in JSON and vivarium.yaml @r' forms

pools() {
	own_vivd
	v daemon start
	metric() { api /metrics | sed -n "s/^vivarium_$1 //p"; }
	waits() { (($(metric pool_cells) >= 1 && $(metric pool_booting) == 0)); }
	v run -- true
	soon waits
	local given c
	given=$(metric pool_given_total)
	is "$(v run --read-only --ulimit nofile=50:60 --group-add 44 -- bash -c "$shown")" "$want"
	v run --read-only -- true
	v run --group-add 44 -- true
	v run --ulimit nofile=50 -- true
	c=$(make_cell '{"start":true,"read_only":true,"ulimits":{"nofile":"50:60"},"group_add":["44"]}')
	is "$(run_in "$c" bash -c "$shown")" "$want"
	is "$(metric pool_given_total)" "$given" 'a booted cell cannot become one with these options'
}
check 'the pool gives no cell that lacks the options @r' pools
