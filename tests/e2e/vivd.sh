# The daemon: its life, its API over HTTP, tokens, events. shellcheck shell=bash

# Every test has a vivd of its own, which it ends.
own_vivd() {
	export XDG_DATA_HOME=$PWD/data XDG_RUNTIME_DIR=$PWD/run XDG_STATE_HOME=$PWD/state
	mkdir -p data run state
	sock=$XDG_RUNTIME_DIR/vivarium/vivd.sock
	# A test that fails ends it as well.
	trap 'vivd_end' EXIT
}
vivd_end() { [[ ! -S $sock ]] || timeout 20 "$VIV" daemon stop || true; }
v() { timeout -k 5 60 "$VIV" "$@"; }
api() { # path, curl's options...
	local path=$1
	shift
	curl -sS --max-time 60 --unix-socket "$sock" "$@" "http://vivd$path"
}
status_of() { api "$@" -o /dev/null -w '%{http_code}'; }
field() { python3 -c 'import json,sys; v=json.load(sys.stdin)
for k in sys.argv[1].split("."): v = v[int(k)] if isinstance(v, list) else v[k]
print(v if isinstance(v, str) else json.dumps(v))' "$1"; }
# Ended; whoever is its parent now may not have noticed yet.
gone() { [[ ! -d /proc/$1 || $(sed 's/.*) //' "/proc/$1/stat" 2>/dev/null) == Z* ]]; }
pid_of() { api /v1/version | field pid; }

life() {
	own_vivd
	exits 3 v daemon status
	is "$(cat out)" 'vivd does not run'
	exits 3 v daemon status --json
	is "$(field running <out)" false
	exits 0 v daemon stop
	v daemon start
	is "$(stat -c %a "$sock")" 600 'mode of the socket'
	is "$(stat -c %a run/vivarium)" 700
	pid=$(v daemon status --json | field pid)
	is "$(v daemon status --json | field socket)" "$sock"
	is "$(v daemon status --json | field version)" "$(v version | cut -d' ' -f2)"
	is "$(readlink "/proc/$pid/exe")" "$(dirname "$VIV")/vivd"
	v daemon start
	is "$(pid_of)" "$pid" 'started twice is one'
	v daemon restart
	[[ $(pid_of) != "$pid" ]]
	soon gone "$pid"
	pid=$(pid_of)
	v daemon stop
	[[ ! -e $sock ]]
	soon gone "$pid"
	exits 2 v daemon jump
	exits 2 v daemon start --port 5
}
check 'start, status, restart, stop @r' life

at_once() {
	own_vivd
	for i in 1 2 3 4 5 6 7 8; do v events --no-follow --since 0 >"o$i" 2>&1 & done
	for i in $(jobs -p); do wait "$i"; done
	is "$(grep -h daemon.started o? | grep -o 'pid=[0-9]*' | sort -u | wc -l)" 1 'how many were started'
}
check 'commands start it when it is not there, and only one @r' at_once

killed() {
	own_vivd
	v daemon start
	token=$(v token create --name kept)
	pid=$(pid_of)
	kill -9 "$pid"
	soon gone "$pid"
	[[ -S $sock ]]
	is "$(v token ls --json | field name)" kept 'a new one takes the socket that a dead one left'
	[[ $(pid_of) != "$pid" ]]
	exits 0 v daemon stop
	v daemon start
	api '/v1/events?since=0&follow=0' >e
	is "$(grep -c daemon.started e)" 3
	is "$(python3 -c 'import json; n = [json.loads(l)["seq"] for l in open("e")]; print(n == list(range(1, len(n) + 1)))')" True
}
check 'killed, a new one goes on with the state @r' killed

activation() {
	own_vivd
	mkdir -p run/vivarium
	python3 - "$(dirname "$VIV")/vivd" "$sock" <<-'EOF' &
	import os, socket, sys
	s = socket.socket(socket.AF_UNIX)
	s.bind(sys.argv[2])
	os.chmod(sys.argv[2], 0o600)
	s.listen(8)
	if s.fileno() != 3:
	    os.dup2(s.fileno(), 3)
	os.set_inheritable(3, True)
	os.environ["LISTEN_PID"], os.environ["LISTEN_FDS"] = str(os.getpid()), "1"
	os.execv(sys.argv[1], ["vivd"])
	EOF
	soon test -S "$sock"
	is "$(api /v1/version | field activated)" true
	v daemon stop
	wait
	[[ -S $sock ]]
	rm "$sock"
}
check 'socket activation @r' activation

ends() {
	own_vivd
	v daemon start
	api /v1/events -N >e 2>err &
	follower=$!
	pid=$(pid_of)
	kill -TERM "$pid"
	soon gone "$pid"
	wait "$follower" || true
	grep -q daemon.stopping e
	[[ ! -e $sock ]]
}
check 'SIGTERM ends it, and who follows events is told @r' ends

document() {
	own_vivd
	v daemon start
	python3 "$E2E_DIR/api.py" "$(dirname "$VIV")/vivd" "$sock"
}
check 'every route and answer is as the OpenAPI document says @r' document

following() {
	own_vivd
	v daemon start
	seq=$(api '/v1/events?since=0&follow=0' | tail -n 1 | field seq)
	api '/v1/events?since=0' -N >a &
	one=$!
	api "/v1/events?since=$seq" -N -H 'Accept: text/event-stream' >b &
	two=$!
	for i in 1 2 3 4 5; do v token create --name "t$i" >/dev/null; done
	soon grep -q '"t5"' a
	soon grep -q '"t5"' b
	kill "$one" "$two"
	is "$(grep -o '"t[0-9]"' a | tr -d '\n')" '"t1""t2""t3""t4""t5"'
	is "$(grep -c '^id: ' b)" 5
	grep -q "^id: $((seq + 1))$" b
	v events --since 0 --no-follow >c
	is "$(grep -c token.created c)" 5
}
check 'events: ordered, resumable, as lines and as SSE @r' following

network() {
	own_vivd
	exits 1 v daemon start --listen 0.0.0.0:0
	like "$(cat err)" '*--tls-cert*'
	exits 1 v daemon start --listen nowhere:1
	port=$((20000 + RANDOM % 20000))
	v daemon start --listen "127.0.0.1:$port"
	tcp=http://127.0.0.1:$port
	is "$(curl -s -o /dev/null -w '%{http_code}' "$tcp/v1/version")" 401
	is "$(curl -s -o /dev/null -w '%{http_code}' -H 'Authorization: Bearer viv_x' "$tcp/v1/version")" 401
	admin=$(v token create) read=$(v token create --scope read)
	is "$(curl -s -o /dev/null -w '%{http_code}' -H "Authorization: Bearer $read" "$tcp/v1/version")" 200
	is "$(curl -s -o /dev/null -w '%{http_code}' -H "Authorization: Bearer $read" "$tcp/v1/tokens")" 403
	is "$(curl -s -o /dev/null -w '%{http_code}' -H "Authorization: Bearer $admin" "$tcp/v1/tokens")" 200
	! grep -rqF "$(cut -d_ -f3 <<<"$admin")" state
	v token rm "$(cut -d_ -f2 <<<"$admin")"
	is "$(curl -s -o /dev/null -w '%{http_code}' -H "Authorization: Bearer $admin" "$tcp/v1/tokens")" 401
	exits 3 v token rm ffffffffffff
	exits 2 v token create --scope all
	v daemon restart
	is "$(curl -s -o /dev/null -w '%{http_code}' -H "Authorization: Bearer $read" "$tcp/v1/version")" 200 'a restart keeps the options'
}
check 'TCP: tokens, scopes, revoked ones, no secret on disk @r' network

tls() {
	own_vivd
	openssl req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out cert.pem -days 2 -subj /CN=localhost -addext subjectAltName=IP:127.0.0.1 2>/dev/null
	port=$((20000 + RANDOM % 20000))
	v daemon start --listen "127.0.0.1:$port" --tls-cert "$PWD/cert.pem" --tls-key "$PWD/key.pem"
	token=$(v token create)
	is "$(curl -s --cacert cert.pem -H "Authorization: Bearer $token" "https://127.0.0.1:$port/v1/version" | field api)" v1
	! curl -s --max-time 5 "http://127.0.0.1:$port/v1/version"
	v daemon stop
	echo x >bad.pem
	exits 1 v daemon start --listen "127.0.0.1:$port" --tls-cert "$PWD/bad.pem" --tls-key "$PWD/key.pem"
	exits 3 v daemon status
}
check 'TLS with a certificate @r' tls

malformed() {
	own_vivd
	v daemon start
	pid=$(pid_of)
	python3 "$E2E_DIR/badrequests.py" "$sock" "${BAD_REQUESTS:-400}" "${BAD_SEED:-1}"
	is "$(pid_of)" "$pid" 'the same process'
}
check 'malformed requests get 4xx' malformed

slow() {
	own_vivd
	v daemon start
	python3 - "$sock" <<-'EOF'
	import socket, sys, time

	def connect():
	    s = socket.socket(socket.AF_UNIX)
	    s.connect(sys.argv[1])
	    return s

	idle = [connect() for _ in range(1000)]
	drip = [connect() for _ in range(20)]
	for s in drip:
	    s.settimeout(0.2)
	ask = connect()
	ask.settimeout(30)
	begin = time.monotonic()
	closed = 0
	text = b"GET /v1/version HTTP/1.1\r\nX-Slow: "
	for i in range(16):
	    for s in list(drip):
	        try:
	            s.send(text[i:i + 1] if i < len(text) else b"x")
	        except OSError:
	            drip.remove(s)
	            closed += 1
	    ask.send(b"GET /v1/version HTTP/1.1\r\nHost: x\r\n\r\n")
	    assert b" 200 " in ask.recv(4096), "others are not served"
	    time.sleep(1)
	assert closed == 20, f"{closed} of 20 slow heads were cut off"
	EOF
	is "$(status_of /v1/version)" 200
	rss=$(awk '/VmRSS/ { print $2 }' "/proc/$(pid_of)/status")
	[[ $rss -lt 65536 ]] || { echo "vivd uses $rss KiB"; false; }
}
check 'slow heads are cut off, a thousand idle connections harm nobody' slow
