# viv itself: options, exit statuses, bad input. shellcheck shell=bash

statuses() {
	for n in 0 1 2 42 124 125 126 127 128 200 255; do exits "$n" viv -- sh -c "exit $n"; done
	for s in 1 2 3 6 9 11 13 14 15 34 64; do exits $((128 + s)) viv -- sh -c "ulimit -c 0; kill -$s \$\$; sleep 1"; done
	exits 134 viv -- python3 -c 'import os; os.abort()'
}
check 'exit status: the command'\''s, 128+N by signal @r' statuses

not_runnable() {
	exits 127 viv -- nosuchcommand
	like "$(cat err)" 'viv: *nosuchcommand*'
	exits 127 viv -- /no/such/file
	exits 126 viv -- /etc/passwd
	like "$(cat err)" 'viv: */etc/passwd*'
	exits 126 viv -- /usr
	exits 127 viv -- ''
	mkdir m
	printf 'no program' >m/x
	chmod +x m/x
	exits 126 viv --mount "$PWD/m:/m" -- /m/x
	printf '#!/nowhere\n' >m/y
	chmod +x m/y
	exits 127 viv --mount "$PWD/m:/m" -- /m/y
	is "$(wc -l <err)" 1 'one message'
}
check 'exit status: 126 and 127, as a shell does @r' not_runnable

timeouts() {
	exits 124 viv --timeout 300ms -- sleep 100
	like "$(cat err)" 'viv: *'
	exits 124 viv --timeout 0.3 -- sh -c 'trap "" TERM; sleep 100; sleep 100'
	exits 124 viv --timeout 300ms -- sh -c 'while :; do :; done'
	exits 124 viv --timeout=0.3s -- sh -c 'sleep 100 & sleep 100 & kill -STOP $$'
	exits 5 viv --timeout 20s -- sh -c 'exit 5'
	exits 0 viv --timeout 1h -- true
	exits 124 viv --quiet --timeout 100ms -- sleep 10
	is "$(cat err)" ''
	soon alone
}
check 'exit status: 124 when the time is up @r' timeouts

# Each: exit 125 (run and exec) or 2, one line that begins with "viv: ", and something that helps.
refuses() { # glob of the message, arguments of viv...
	local want=$1 status=2
	shift
	[[ $1 != run ]] || status=125
	exits "$status" timeout 120 "$VIV" "$@"
	is "$(cat out)" ''
	is "$(wc -l <err)" 1 "lines of: $*"
	like "$(cat err)" "viv: $want" "$*"
	# But for the sealer of journals, which stays a moment after the last cell.
	soon alone || { descendants; return 1; }
}
bad_options() {
	refuses "*--memroy*--memory*" run --memroy 1G -- true
	refuses "*--timout*--timeout*" run --timout=3 -- true
	refuses "*--xyzzy*--help*" run --xyzzy -- true
	refuses "*-x*" run -x -- true
	refuses "*needs a value*" run --memory
	refuses "*no command*" run
	refuses "*no command*" run --
	refuses "*no command*" run --memory 64M
	refuses "*takes no value*" run --trace=yes -- true
	refuses "*runn*run*" runn -- true
	refuses "*frobnicate*help*" frobnicate
	refuses "*--frob*" --frob
}
check 'unknown options, with a hint @r' bad_options

bad_values() {
	for v in '' 0 x 1Q -5 3M 1e9 99999999999999999999G; do refuses "--memory*" run --memory "$v" -- true; done
	for v in '' 0 x -1 1.2.3 0.001; do refuses "--cpus*" run --cpus "$v" -- true; done
	refuses "--cpus*" run --cpus 4000 -- true
	for v in '' 0 x -1 1.5 99999999999; do refuses "--pids*" run --pids "$v" -- true; done
	for v in '' 0 x -1s 10y; do refuses "--timeout*" run --timeout "$v" -- true; done
	for v in '' =x; do refuses "--env*" run --env "$v" -- true; done
	for v in '' nosuchuser -1 4294967295 0:x 99999999999; do refuses "--user*" run --user "$v" -- true; done
	for v in '' relative; do refuses "--workdir*" run --workdir "$v" -- true; done
	for v in '' "$(printf 'h%.0s' {1..65})"; do refuses "--hostname*" run --hostname "$v" -- true; done
	for v in '' a : /tmp /tmp: :/x /tmp:rel /tmp:/x:rx /tmp:/; do refuses "--mount*" run --mount "$v" -- true; done
	for v in '' rel / /x:size=0 /x:big=1 /x:size=; do refuses "--tmpfs*" run --tmpfs "$v" -- true; done
	refuses "*mounted*already*" run --tmpfs /x --tmpfs /x/ -- true
}
check 'values that make no sense' bad_values

bad_places() {
	refuses "*image*nosuch*" run --image nosuch -- true
	refuses "*no '/nowhere/at/all'*" run --mount /nowhere/at/all:/x -- true
	mkfifo fifo
	refuses "*neither a directory nor a regular file*" run --mount "$PWD/fifo:/x" -- true
	refuses "*/nowhere*" run --workdir /nowhere -- true
	refuses "*/etc/passwd*" run --workdir /etc/passwd -- true
	mkdir -m 0 shut
	if [[ $(id -u) != 0 ]]; then refuses "*shut*" run --mount "$PWD/shut:/x" -- true; fi
	(umask 777; : >closed)
	if [[ $(id -u) != 0 ]]; then refuses "*closed*" run --mount "$PWD/closed:/x" -- true; fi
	mkdir alone
	cp "$VIV" alone/
	exits 125 alone/viv run -- true
	like "$(cat err)" 'viv: viv-kernel is not in *make*'
}
check 'a missing image, unreadable mounts, no kernel @r' bad_places

help_texts() {
	exits 0 "$VIV" --version
	like "$(cat out)" 'viv [0-9]*.[0-9]*'
	is "$("$VIV" version)" "$(cat out)"
	exits 0 "$VIV" run --help
	for o in image cpus memory pids timeout env workdir user mount trace; do like "$(cat out)" "*--$o *" help; done
	is "$(cat err)" ''
	cp out help
	is "$("$VIV" help run)" "$(cat help)"
	is "$("$VIV" run -h)" "$(cat help)"
	exits 0 "$VIV" --help
	like "$(cat out)" '*viv run*'
	exits 2 "$VIV"
	is "$(cat out)" ''
	exits 1 bash -c '"$0" --help >/dev/full' "$VIV"
}
check 'help and version @r' help_texts

environment() {
	export SECRET=hidden PASSED=given
	is "$(viv -- env | sort | grep -v '^_=')" "$(printf '%s\n' HOME=/root LANG=C.UTF-8 LOGNAME=root PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin SHELL=/bin/bash USER=root)"
	is "$(viv --env A=1 --env=B='x y=z' --env PASSED --env UNSET_HERE --env A=2 --env E= -- sh -c 'echo "$A|$B|$PASSED|${UNSET_HERE-no}|${SECRET-no}|${E-no}"')" '2|x y=z|given|no|no|'
	is "$(viv --env HOME=/tmp --env PATH=/bin -- sh -c 'echo $HOME $PATH')" '/tmp /bin'
	is "$(viv --env "$(printf 'N=a\nb')" -- sh -c 'echo "$N"')" $'a\nb'
}
check '--env, and nothing of the host'\''s environment @r' environment

env_files() {
	export PASSED=given
	printf '\xef\xbb\xbf# not this\n\n  A=1\nB=x y \nPASSED\nUNSET_HERE\nQ="q"\r\nA=2' >f
	echo B=last >g
	is "$(viv --env A=3 --env-file f -- sh -c 'echo "$A|$B|$PASSED|${UNSET_HERE-no}|$Q"')" '3|x y |given|no|"q"'
	is "$(viv --env-file f --env-file g -- sh -c 'echo "$A|$B"')" '2|last'
	is "$(viv --env-file <(echo P=pipe) -- sh -c 'echo $P')" pipe
	refuses "--env-file*No such file*" run --env-file nosuch -- true
	for v in '=x' 'a b=1' 'a b'; do
		echo "$v" >bad
		refuses "--env-file 'bad', line 1*NAME=VALUE*" run --env-file bad -- true
	done
	printf 'A=\0' >bad
	refuses "--env-file*NUL*" run --env-file bad -- true
	head -c 1048577 /dev/zero | tr '\0' a >bad
	refuses "--env-file*1 MiB*" run --env-file bad -- true
}
check '--env-file @r' env_files

dockers() {
	mkdir m
	echo here >m/f
	is "$(viv -v ./m:/x:ro -- sh -c 'cat /x/f; touch /x/g 2>/dev/null || echo ro')" $'here\nro'
	is "$(viv --mount "type=bind,source=$PWD/m,target=/x,readonly" -- sh -c 'cat /x/f; touch /x/g 2>/dev/null || echo ro')" $'here\nro'
	viv --mount type=volume,src=vol,dst=/x -- sh -c 'echo kept >/x/f'
	is "$(viv -v vol:/x:ro -- cat /x/f)" kept
	is "$(viv --mount type=tmpfs,destination=/x,tmpfs-size=1M -- stat -f -c '%b %S %T' /x)" '256 4096 tmpfs'
	is "$(viv --network none --init --pids-limit 50 --rm -- sh -c 'ulimit -u; echo $$')" "$(viv --pids 50 -- sh -c 'ulimit -u; echo $$')"
	for v in type=bind,target=/x type=x,source=a,target=/x type=tmpfs,source=a,target=/x target=/x type=bind,source=a type=bind,,target=/x \
		type=bind,source=/a,target=x type=tmpfs,target=/x,tmpfs-size=x type=bind,source=/,target=/x,readonly=maybe type=bind,source=/,target=/x,z=1; do
		refuses "--mount*" run --mount "$v" -- true
	done
	refuses "--network*" run --network host -- true
	refuses "--pids-limit*" run --pids-limit 0 -- true
	refuses "--health-cmd*--detach*" run --health-cmd true -- true
	refuses "--health-retries*--health-cmd*" run -d --health-retries 2 -- true
	refuses "--health-interval*" run -d --health-cmd true --health-interval x -- true
}
check 'options as docker has them @r' dockers

arguments() {
	is "$(viv -- printf '<%s>' 'a b' '' "q'uote" '*' $'new\nline' 'ü' -- --memory)" "<a b><><q'uote><*><new
line><ü><--><--memory>"
	is "$(viv echo --memory x)" '--memory x' 'options end at the command'
	is "$(viv -- sh -c 'echo $0' )" sh
	is "$(viv -- /bin/echo "$(head -c 100000 /dev/zero | tr '\0' x)" | wc -c)" 100001
}
check 'arguments arrive as they are @r' arguments

users() {
	is "$(viv -- id)" 'uid=0(root) gid=0(root) groups=0(root)'
	is "$(viv --user agent -- sh -c 'id -un; id -u; echo $HOME $USER; cd && pwd; touch f && stat -c %U f; ls /root 2>/dev/null || echo denied; echo x >/etc/x 2>/dev/null || echo readonly')" $'agent\n1000\n/home/agent agent\n/home/agent\nagent\ndenied\nreadonly'
	is "$(viv --user nobody -- id -u)" 65534
	is "$(viv --user 1234 -- sh -c 'id -u; id -g')" $'1234\n1234'
	is "$(viv --user 1234:567 -- sh -c 'id -u; id -g; id -G')" $'1234\n567\n567'
	is "$(viv --user agent --tmpfs /x -- sh -c 'touch /tmp/a && stat -c %u /tmp/a')" 1000
	is "$(viv --user agent -- sh -c 'sleep 10 & kill $! && echo own; kill -0 1 2>/dev/null || echo not init')" $'own\nnot init'
	is "$(viv -- sh -c 'useradd -m bob; su bob -c "id -un"; su - bob -c pwd; runuser -u bob -- id -un; su nobody -s /bin/sh -c "id -u"')" $'bob\n/home/bob\nbob\n65534'
}
check '--user @r' users

places() {
	is "$(viv -- pwd)" /
	is "$(viv --workdir /usr/lib -- pwd)" /usr/lib
	mkdir src
	is "$(viv --mount "$PWD/src:/deep/er/x" --workdir /deep/er/x -- sh -c 'pwd; touch made')" /deep/er/x
	[[ -e src/made ]]
	is "$(viv --hostname box -- sh -c 'hostname; uname -n; cat /etc/hostname')" $'box\nbox\nbox'
	is "$(viv -- uname -n)" cell
	is "$(viv --image host -- uname -s)" Linux
}
check '--workdir, --hostname, --image @r' places

sizes() {
	is "$(viv --cpus 1 -- nproc)" 1
	is "$(viv --cpus 1 -- grep -c ^processor /proc/cpuinfo)" 1
	is "$(viv --cpus 1 -- python3 -c 'import os; print(os.cpu_count(), len(os.sched_getaffinity(0)))')" '1 1'
	is "$(viv --memory 300M -- awk '/^MemTotal/ { print $2 }' /proc/meminfo)" $((300 * 1024))
	is "$(viv --memory 1.5G -- free -m | awk '/^Mem/ { print $2 }')" 1536
	exits 0 viv --cpus 0.5 --quiet -- true
}
check '--cpus and --memory are what the cell sees @r' sizes

changes() {
	exits 0 viv --changes -- sh -c 'echo x >/tmp/new; rm /etc/hostname; echo y >>/etc/passwd; mkdir /srv/d'
	for w in /tmp/new /etc/hostname /etc/passwd /srv/d; do like "$(cat err out)" "*$w*"; done
	like "$(cat err out)" '*/etc/hostname*'
	exits 0 viv --changes -- true
	is "$(cat out)" ''
}
check '--changes lists what was done' changes

forwarded() {
	for s in TERM INT HUP QUIT USR1 USR2 ALRM; do
		rm -f err
		"$VIV" run -- bash -c "trap 'exit 55' $s; echo up >&2; while :; do sleep 0.05; done" 2>err &
		p=$!
		soon grep -qs up err
		kill -$s $p
		rc=0
		wait $p || rc=$?
		is "$rc" 55 "SIG$s"
	done
	"$VIV" run -- sh -c 'echo up >&2; exec sleep 100' 2>err2 &
	p=$!
	soon grep -qs up err2
	kill $p
	rc=0
	wait $p || rc=$?
	is "$rc" 143
}
check 'signals to viv reach the command @r' forwarded

side_by_side() {
	for i in $(seq 20); do viv -- sh -c "echo $i >/tmp/x; sleep 0.1; cat /tmp/x" >"o$i" & done
	wait
	is "$(cat o* | sort -n | tr '\n' ' ')" "$(seq -s ' ' 20) "
}
check '20 cells at once @r' side_by_side

looks() {
	is "$(viv -- sh -c 'echo $$')" 2 'the first process'
	is "$(viv -- sh -c 'ls /proc | grep -c "^[0-9]*$"')" "$(viv -- sh -c 'ps -e -o pid= | wc -l' | awk '{ print $1 - 0 }')" 'processes in /proc'
	is "$(viv -- sh -c 'ls /home /root')" $'/home:\nagent\n\n/root:'
	exits 1 viv -- sh -c 'cat /etc/shadow'
	is "$(viv -- sh -c 'ls /proc/1/root 2>/dev/null | head -n 1; grep -c . /etc/passwd')" "$(viv -- sh -c 'ls / | head -n 1; grep -c . /etc/passwd')"
	like "$(viv -- cat /etc/os-release)" '*NAME=*'
}
check 'a cell looks like a computer of its own' looks
