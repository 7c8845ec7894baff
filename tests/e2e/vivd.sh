# The daemon: its life, its API over HTTP, tokens, events. shellcheck shell=bash

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
	is "$(api '/v1/events?since=9223372036854775807&follow=0')" '' 'nothing comes after the last number'
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
	api '/v1/events?since=0' -N >e 2>err &
	follower=$!
	pid=$(pid_of)
	soon test -s e # it follows
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

jobs() {
	own_vivd
	v daemon start
	timeout 300 python3 "$E2E_DIR/jobs.py" "$sock" "$XDG_DATA_HOME/vivarium"
}
check 'long work ends with its client, and leaves nothing @r' jobs

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
	exits 2 v daemon start --listen 0.0.0.0:0
	like "$(cat err)" '*--tls-cert*'
	exits 2 v daemon start --listen nowhere:1
	port=$(free_port)
	v daemon start --listen "127.0.0.1:$port"
	tcp=http://127.0.0.1:$port
	is "$(curl -s -o /dev/null -w '%{http_code}' "$tcp/v1/version")" 401
	is "$(curl -s -o /dev/null -w '%{http_code}' -H 'Authorization: Bearer viv_x' "$tcp/v1/version")" 401
	admin=$(v token create) read=$(v token create --scope read)
	is "$(curl -s -o /dev/null -w '%{http_code}' -H "Authorization: Bearer $read" "$tcp/v1/version")" 200
	is "$(curl -s -o /dev/null -w '%{http_code}' -H "Authorization: Bearer $read" "$tcp/v1/tokens")" 403
	is "$(curl -s -o /dev/null -w '%{http_code}' -H "Authorization: Bearer $admin" "$tcp/v1/tokens")" 200
	fails grep -rqF "$(cut -d_ -f3 <<<"$admin")" state
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
	port=$(free_port)
	v daemon start --listen "127.0.0.1:$port" --tls-cert "$PWD/cert.pem" --tls-key "$PWD/key.pem"
	token=$(v token create)
	is "$(curl -s --cacert cert.pem -H "Authorization: Bearer $token" "https://127.0.0.1:$port/v1/version" | field api)" v1
	fails curl -s --max-time 60 "http://127.0.0.1:$port/v1/version"
	v daemon stop
	echo x >bad.pem
	exits 1 v daemon start --listen "127.0.0.1:$port" --tls-cert "$PWD/bad.pem" --tls-key "$PWD/key.pem"
	exits 3 v daemon status
}
check 'TLS with a certificate @r' tls

# The headers of an answer to a page of an origin, in lower case, without Date; of several lines "|" is between them.
cors_head() { # curl's options and URL...
	curl -s -o /dev/null -D - --max-time 120 "$@" | tr -d '\r' | tr '[:upper:]' '[:lower:]' | grep -v '^date:'
}
allowed() { cors_head "$@" | sed -n 's/^access-control-allow-origin: //p'; }

cors() {
	own_vivd
	local origin token tcp port bad
	for bad in '*' null '' example.org https:// https://EXAMPLE.org https://example.org/ https://example.org/x https://example.org:443 http://example.org:80 \
		https://example.org:0 https://example.org:99999 https://example.org:x 'https://*.example.org' 'https://a.org https://b.org' https://a.org,https://b.org \
		https://user@example.org 'https://[::1' $'https://a.org\r\nX: y' "https://$(printf 'a%.0s' {1..300})"; do
		exits 2 v daemon start --listen 127.0.0.1:1 --cors-origin "$bad"
		like "$(cat err)" '*--cors-origin*'
	done
	exits 2 v daemon start --cors-origin https://example.org
	like "$(cat err)" '*--listen*'
	port=$(free_port) tcp=http://127.0.0.1:$port origin=https://app.example.org
	v daemon start --listen "127.0.0.1:$port" --cors-origin $origin --cors-origin http://localhost:5173 --cors-origin 'http://[::1]:8080'
	token=$(v token create)
	auth=(-H "Authorization: Bearer $token")
	# What the pages of a named origin get, errors and streams included.
	is "$(cors_head "${auth[@]}" -H "Origin: $origin" "$tcp/v1/version" | grep -c "^access-control-allow-origin: $origin\$\|^vary: origin\$")" 2
	for o in $origin http://localhost:5173 'http://[::1]:8080'; do is "$(allowed "${auth[@]}" -H "Origin: $o" "$tcp/v1/cells")" "$o"; done
	is "$(allowed -H "Origin: $origin" "$tcp/v1/cells")" "$origin" 'an answer 401'
	is "$(allowed "${auth[@]}" -H "Origin: $origin" "$tcp/v1/nothing")" "$origin" 'an answer 404'
	is "$(allowed "${auth[@]}" -H "Origin: $origin" "$tcp/v1/events?follow=0")" "$origin"
	is "$(cors_head "${auth[@]}" -H "Origin: $origin" "$tcp/v1/version" | grep -c credentials || true)" 0
	# The page shows who it is by a token alone.
	is "$(curl -s -o /dev/null -w '%{http_code}' -H "Origin: $origin" "$tcp/v1/cells")" 401
	# Others get nothing, and the answer says that it depends on who asks.
	for o in null '*' https://app.example.org:443 https://app.example.org:444 http://app.example.org https://app.example.org.evil.org https://evil-app.example.org \
		https://example.org https://x.app.example.org https://APP.example.org https://app.example.org/ https://app.example.orgx 'https://app.example.org, https://evil.org' \
		' https://app.example.org https://evil.org' http://localhost http://localhost:51730 'http://[::1]' https://evil.org; do
		cors_head "${auth[@]}" -H "Origin: $o" "$tcp/v1/version" >head
		is "$(grep -c access-control head || true)" 0 "$o"
		is "$(grep -c '^vary: origin$' head)" 1 "$o"
		cors_head -X OPTIONS -H "Origin: $o" -H 'Access-Control-Request-Method: GET' "$tcp/v1/cells" >head
		is "$(grep -c access-control head || true)" 0 "preflight of $o"
		# Pages of previews have the origin null, or one below localhost.
		like "$(head -n 1 head)" '*40[13]*'
	done
	cors_head "${auth[@]}" -H "Origin: $origin" -H 'Origin: https://evil.org' "$tcp/v1/version" >head
	is "$(grep -c access-control head || true)" 0 'two origins'
	is "$(cors_head "${auth[@]}" "$tcp/v1/version" | grep -c '^access-control' || true)" 0 'no origin'
	# Preflights: without a token, by path.
	cors_head -X OPTIONS -H "Origin: $origin" -H 'Access-Control-Request-Method: DELETE' -H 'Access-Control-Request-Headers: authorization' "$tcp/v1/cells/x" >head
	like "$(head -n 1 head)" '*204*'
	is "$(sed -n 's/^access-control-//p' head | sort)" $'allow-headers: authorization, content-type, idempotency-key, last-event-id, range\nallow-methods: get, patch, delete\nallow-origin: https://app.example.org\nexpose-headers: content-range, accept-ranges, allow, idempotency-replayed\nmax-age: 600'
	like "$(cors_head -X OPTIONS -H "Origin: $origin" -H 'Access-Control-Request-Method: GET' "$tcp/v1/nothing" | head -n 1)" '*401*'
	like "$(cors_head -X OPTIONS -H "Origin: $origin" "$tcp/v1/cells" | head -n 1)" '*401*' 'not a preflight'
	like "$(cors_head -X OPTIONS "${auth[@]}" -H "Origin: $origin" "$tcp/v1/cells" | head -n 1)" '*405*'
	like "$(cors_head -X OPTIONS -H "Origin: $origin" -H 'Access-Control-Request-Method: POST' --data-binary x "$tcp/v1/cells" | head -n 1)" '*204*' 'with a body'
	# A page's request is one like any other.
	is "$(curl -s "${auth[@]}" -H "Origin: $origin" "$tcp/v1/cells" -d '{"name":"a"}' | field name)" a
	# Not on the socket, where nobody needs a token; a restart keeps the option.
	is "$(api /v1/version -o /dev/null -D - -H "Origin: $origin" | grep -ci 'access-control\|vary' || true)" 0
	v daemon restart
	is "$(allowed "${auth[@]}" -H "Origin: http://localhost:5173" "$tcp/v1/cells")" http://localhost:5173
	v daemon stop
	# Without the option nothing is said of it.
	v daemon start --listen "127.0.0.1:$port"
	is "$(cors_head "${auth[@]}" -H "Origin: $origin" "$tcp/v1/version" | grep -c 'access-control\|vary' || true)" 0
	like "$(cors_head -X OPTIONS -H "Origin: $origin" -H 'Access-Control-Request-Method: GET' "$tcp/v1/cells" | head -n 1)" '*401*'
}
check 'CORS: pages of named origins, and no others @r' cors

outlives() {
	own_vivd
	v daemon start
	make_cell '{"name":"a","start":true,"command":["sh","-c","i=0; while :; do i=$((i+1)); echo $i; sleep 0.05; done"]}' >/dev/null
	make_cell '{"name":"b","start":true}' >/dev/null
	mkdir go
	short=$(make_cell '{"start":true,"command":["sh","-c","until [ -e /go/on ]; do sleep 0.05; done; exit 9"],"mounts":[{"source":"'"$PWD"'/go","target":"/go","readonly":true}]}')
	kernel=$(api /v1/cells/a | field pid)
	short_pid=$(api "/v1/cells/$short" | field pid)
	seq=$(api '/v1/events?since=0&follow=0' | tail -n 1 | field seq)
	# Under load: requests, execs and a long stream.
	for i in 1 2 3; do (while run_in b sh -c 'echo x; true' >/dev/null 2>&1; do :; done) 2>/dev/null & done
	run_in b seq 100000000 >/dev/null 2>&1 &
	sleep 0.5
	pid=$(pid_of)
	kill -9 "$pid"
	soon gone "$pid"
	wait
	touch go/on
	soon gone "$short_pid"
	written() { (($(wc -c <"run/vivarium/cells/$(ls run/vivarium/cells | grep '\.1\.log$' | grep -v "$short" | head -n 1)") > 100)); }
	soon written
	v daemon start
	is "$(api /v1/cells/a | field pid)" "$kernel" 'the same kernel goes on'
	is "$(api /v1/cells/a | field state)" running
	is "$(run_in b echo here)" here 'and is used as before'
	is "$(api "/v1/cells/$short" | field exit_code)" 9 'one that ended meanwhile has told how'
	lines() { api /v1/cells/a/logs -H 'Accept: text/plain' >log && (($(wc -l <log) > 20)); }
	soon lines
	is "$(head -n 3 log | tr '\n' ' ')" '1 2 3 ' 'its output from the first line on'
	is "$(sort -n log | uniq -d | wc -l)" 0
	is "$(awk 'NR > 1 && $1 != last + 1 { bad++ } { last = $1 } END { print bad + 0 }' log)" 0 'without a gap'
	api "/v1/events?since=$seq&follow=0" >e
	is "$(grep -c cell.adopted e)" 2
	api /v1/cells/a/stop -d '{"grace":1}' >/dev/null
	state_is a stopped
}
check 'kill -9 under load: cells go on, and a new vivd adopts them @r' outlives

restarts() {
	own_vivd
	v daemon start
	make_cell '{"name":"f","start":true,"command":["sh","-c","echo run; exit 3"],"restart":{"policy":"on-failure","max":2}}' >/dev/null
	soon sh -c "curl -s --unix-socket '$sock' 'http://vivd/v1/events?since=0&follow=0' | grep -c '\"state\":\"stopped\"' | grep -qx 3"
	is "$(api /v1/cells/f | field exit_code)" 3
	is "$(api /v1/cells/f | field restarts)" 2
	make_cell '{"name":"o","start":true,"command":["true"],"restart":{"policy":"on-failure"}}' >/dev/null
	soon state_is o completed
	make_cell '{"name":"l","start":true,"command":["sh","-c","sleep 0.2"],"restart":{"policy":"always"}}' >/dev/null
	soon sh -c "curl -s --unix-socket '$sock' 'http://vivd/v1/events?since=0&follow=0' | grep cell.restarting | grep -q '\"restarts\":3'"
	api /v1/cells/l/stop -d '{"grace":0}' >/dev/null
	sleep 1
	is "$(api /v1/cells/l | field state)" stopped 'stopped, it stays so'
	# After the machine was started again nothing runs, and RUN is empty.
	make_cell '{"name":"p","start":true,"restart":{"policy":"always"}}' >/dev/null
	make_cell '{"name":"q","start":true}' >/dev/null
	pid=$(pid_of) p=$(api /v1/cells/p | field pid) q=$(api /v1/cells/q | field pid)
	keepers=$(ps -o ppid= -p "$p,$q")
	# shellcheck disable=SC2086
	kill -9 "$pid" $keepers
	soon gone "$pid"
	for i in $p $q; do soon gone "$i"; done
	rm -rf run/vivarium
	v daemon start
	soon state_is p running
	soon state_is q failed
	is "$(api /v1/cells/q | field reason)" lost
}
check 'restart policies, also after everything was lost @r' restarts

hangs_up() {
	own_vivd
	v daemon start
	id=$(make_cell '{"start":true}')
	curl -sN --unix-socket "$sock" "http://vivd/v1/cells/$id/exec" -d '{"command":["sh","-c","exec 2>/dev/null; trap \"echo >/tmp/hup; exit\" HUP; echo ready; while :; do sleep 0.1; done"]}' >o &
	client=$!
	soon grep -q ready o
	kill "$client"
	soon run_in "$id" test -e /tmp/hup
	# A reader that stops reading stops the writer, and vivd keeps nothing for it.
	python3 - "$sock" "$id" <<-'EOF'
	import base64, json, socket, sys, time
	body = json.dumps({"command": ["sh", "-c", "yes | head -c 30000000"]}).encode()
	s = socket.socket(socket.AF_UNIX)
	s.connect(sys.argv[1])
	s.sendall(b"POST /v1/cells/%s/exec HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % (sys.argv[2].encode(), len(body)) + body)
	s.recv(1000)
	def rss():
	    import subprocess
	    pid = open("run/vivarium/vivd.lock").read().strip()
	    return int([l for l in open(f"/proc/{pid}/status") if l.startswith("VmRSS")][0].split()[1])
	# It grows until the writer is stopped, and then not.
	a, b = 0, rss()
	for _ in range(60):
	    time.sleep(1)
	    a, b = b, rss()
	    if b - a < 1024:
	        break
	assert b - a < 1024 and b < 40000, (a, b)
	r = s.makefile("rb")
	data = b""
	while b'"type":"exit"' not in data[-200:]:
	    data += r.read1(1 << 20)
	out = b""
	for line in data.split(b"\n"):
	    if b'{"type":"stdout"' in line:
	        x = json.loads(line[line.index(b"{"):])
	        out += base64.b64decode(x["base64"]) if "base64" in x else x["text"].encode()
	assert b'"exit_code":0' in data[-200:]
	first = len(out) - 30000000 # what came with the head was read before
	assert -70000 < first <= 0 and set(out) == set(b"y\n"), first
	EOF
}
check 'a client that goes hangs up; one that does not read stops the writer @r' hangs_up

racing() {
	own_vivd
	v daemon start
	for i in 1 2 3 4 5 6 7 8; do api /v1/cells -d '{"name":"same"}' -o "o$i" -w '%{http_code}\n' >>codes & done
	wait
	is "$(sort codes | uniq -c | tr -s ' ' | tr '\n' ';')" ' 1 201; 7 409;'
	: >codes
	for i in 1 2 3 4 5 6 7 8; do api /v1/cells -d '{"name":"other","get":true,"start":true}' -o "g$i" -w '%{http_code}\n' >>codes & done
	wait
	is "$(for i in 1 2 3 4 5 6 7 8; do field id <"g$i" 2>/dev/null; done | sort -u | wc -l)" 1 'one cell'
	soon state_is other running
}
check 'clients that race on one name @r' racing

others() {
	own_vivd
	viv --name old -- sh -c 'echo 1 >>/root/f; test $(wc -l </root/f) = 1 || exec sleep 300'
	viv --detach --name d -- sleep 300 >/dev/null
	v daemon start
	is "$(api /v1/cells | python3 -c 'import json,sys; print(*sorted((c["name"], c["state"]) for c in json.load(sys.stdin)["cells"]))')" "('d', 'running') ('old', 'stopped')"
	is "$(api /v1/cells/old/start -X POST | field state)" running
	is "$(run_in old cat /root/f)" $'1\n1'
	viv --detach --name e -- sleep 300 >/dev/null
	soon state_is e running
	v stop -t 0 d >/dev/null || v stop d >/dev/null
	soon state_is d stopped
	is "$(v exec e echo by viv)" 'by viv'
	soon sh -c "curl -s --unix-socket '$sock' 'http://vivd/v1/events?since=0&follow=0' | grep process.started | grep -q 'echo by viv'"
}
check 'cells that viv made and started without vivd are known @r' others

# Two wait for the end of one run, and the first starts the cell again.
restarted_meanwhile() {
	own_vivd
	v ls >/dev/null
	make_cell '{"name": "a", "start": true, "command": ["sh", "-c", "trap : TERM; while :; do sleep 1000; done"]}' >/dev/null
	status_of /v1/cells/a/restart -d '{"grace": 86400}' >restarted &
	restart=$!
	soon state_is a stopping
	is "$(status_of /v1/cells/a/stop -d '{"grace": 0}')" 200
	wait "$restart"
	is "$(cat restarted)" 200
	soon state_is a running
}
check 'a stop is answered although somebody else starts the cell again' restarted_meanwhile

ends_kept() {
	own_vivd
	v daemon start
	id=$(make_cell '{"start":true,"timeout":2,"command":["sleep","60"]}')
	is "$(api "/v1/cells/$id/wait" | field reason)" timeout
	is "$(api "/v1/cells/$id" | field exit_code)" 124
	id=$(make_cell '{"start":true,"idle_timeout":5}')
	run_in "$id" sleep 6
	state_is "$id" running
	is "$(api "/v1/cells/$id/wait" | field reason)" idle
	id=$(make_cell '{"start":true,"command":["sh","-c","echo last words; exit 42"]}')
	is "$(api "/v1/cells/$id/wait" | field exit_code)" 42
	is "$(api "/v1/cells/$id/logs" -H 'Accept: text/plain')" 'last words'
	make_cell '{"name":"k","start":true}' >/dev/null
	keeper=$(ps -o ppid= -p "$(api /v1/cells/k | field pid)" | tr -d ' ')
	kill -9 "$keeper"
	soon state_is k failed
	is "$(api /v1/cells/k | field reason)" lost
	api /v1/cells/k/start -X POST >/dev/null
	state_is k running
	kill -9 "$(api /v1/cells/k | field pid)"
	soon state_is k failed
	is "$(api /v1/cells/k | field reason)" failed
	api /v1/cells -d '{"start":true,"command":["/no/such/command"]}' >o
	like "$(cat o)" '*no/such/command*'
	api /v1/cells -d '{"start":true,"mounts":[{"source":"/no/such/place","target":"/x"}]}' >o
	like "$(field cause <o)" '*/no/such/place*'
}
check 'how cells end is kept: time-outs, statuses, killed keepers and kernels @r' ends_kept

malformed() {
	own_vivd
	port=$(free_port)
	v daemon start --listen "127.0.0.1:$port" --cors-origin https://app.example.org
	pid=$(pid_of)
	python3 "$E2E_DIR/badrequests.py" "$sock" "${BAD_REQUESTS:-400}" "${BAD_SEED:-1}"
	python3 "$E2E_DIR/badrequests.py" "$port" $((${BAD_REQUESTS:-400} / 2)) "${BAD_SEED:-1}" "$(v token create)"
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
