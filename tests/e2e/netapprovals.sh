# Connections that wait for an answer. shellcheck shell=bash
# world
# shellcheck source=tests/e2e/world.sh
. "$E2E_DIR/world.sh"
world_name_server
# The second server ends a connection that nobody uses.
# shellcheck disable=SC2016
world_web 'location /put { proxy_pass http://127.0.0.1:80/who; }' 'location /held { return 200 "held $request_method\n"; }' \
	"} server { listen 93.184.216.34:8443 ssl http2; ssl_certificate $E2E_WORLD/server.pem; ssl_certificate_key $E2E_WORLD/server.key;" \
	'keepalive_timeout 1s; client_header_timeout 1s; location /held { return 200 "held $request_method\n"; }'
world_plain
stop_vivd() { "$VIV" daemon stop; }

open_now() { "$VIV" approvals ls -q | wc -l; }
open_is() { [[ $(open_now) == "$1" ]]; }
newest() { "$VIV" approvals ls -q | tail -n 1; }
member() { # id, name
	"$VIV" approvals show --json "$1" | python3 -c "import json, sys; print(json.load(sys.stdin).get('$2', ''))"
}
# curl in a cell in the background; its output is in the file named first, its process in $cell.
fetch() { # file, options of viv..., --, options of curl...
	local to=$1 given=()
	shift
	while [[ $1 != -- ]]; do given+=("$1") && shift; done
	shift
	viv --quiet --mount "$E2E_WORLD/ca.pem:/ca.pem:ro" "${given[@]}" -- curl -sS --max-time 170 --cacert /ca.pem "$@" >"$to" 2>&1 &
	cell=$!
}

asked() {
	at_end stop_vivd
	fetch out1 --ask good.org -- https://good.org/who
	soon open_is 1
	id=$(newest)
	is "$(member "$id" scope) $(member "$id" action) $(member "$id" name) $(member "$id" port) $(member "$id" protocol)" 'net connect good.org 443 web'
	is "$(member "$id" program)" /usr/bin/curl
	# Nobody outside has heard of the name.
	fails world_asked good.org
	"$VIV" approvals allow "$id"
	wait "$cell"
	like "$(cat out1)" 'good.org * 443 HTTP/2.0'
	world_asked good.org
	fetch out2 --ask other.org -- https://other.org/who
	soon open_is 1
	"$VIV" approvals deny "$(newest)"
	wait "$cell" && return 1
	fails world_asked other.org
	# Plain HTTP and other protocols.
	fetch out3 --ask good.org -- http://good.org/who
	soon open_is 1
	is "$(member "$(newest)" port)" 80
	"$VIV" approvals allow "$(newest)"
	wait "$cell"
	like "$(cat out3)" 'good.org * 80 HTTP/1.1'
	fetch out4 --ask 'tcp.org:7 tcp' -- telnet://tcp.org:7
	soon open_is 1
	is "$(member "$(newest)" protocol)" tcp
	"$VIV" approvals deny "$(newest)"
	wait "$cell" && return 1
	# A name that does not exist is found out when it is allowed.
	fetch out5 --ask '*.nowhere.org' -- https://x.nowhere.org/
	soon open_is 1
	"$VIV" approvals allow "$(newest)"
	wait "$cell" && return 1
	soon open_is 0
}
check 'a connection waits until it is answered @r' asked

again() {
	at_end stop_vivd
	# A client that gives up and tries again asks the same question; an answer in between is for the next try.
	viv --quiet --mount "$E2E_WORLD/ca.pem:/ca.pem:ro" --ask good.org -- sh -c \
		'until curl -sS --max-time 8 --cacert /ca.pem https://good.org/who; do echo again; done' >out1 2>/dev/null &
	cell=$!
	soon open_is 1
	id=$(newest)
	soon eval '(($(grep -c again out1) >= 2))'
	is "$(newest)" "$id"
	kill -9 "$("$VIV" daemon status --json | sed 's/.*"pid":\([0-9]*\).*/\1/')"
	soon open_is 1
	is "$(newest)" "$id"
	"$VIV" approvals allow "$id"
	wait "$cell"
	like "$(tail -n 1 out1)" 'good.org * 443 HTTP/2.0'
	# Several clients at once. When all of them wait to be connected, there is one question.
	viv --quiet --mount "$E2E_WORLD/ca.pem:/ca.pem:ro" --ask good.org -- sh -c \
		'for i in 1 2 3 4 5; do curl -4 -sS --max-time 170 --cacert /ca.pem https://good.org/who & done
		until [ "$(grep -c ":01BB 02 " /proc/net/tcp)" = 5 ]; do sleep 0.05; done; echo all wait; wait' >out2 2>&1 &
	cell=$!
	soon grep -q 'all wait' out2
	is "$(open_now)" 1
	"$VIV" approvals allow "$(newest)"
	wait "$cell"
	is "$(grep -c good.org out2)" 5
}
check 'who tries again asks the same question' again

always() {
	at_end stop_vivd
	at_end '"$VIV" rm -f asked >/dev/null'
	"$VIV" run -d --name asked --mount "$E2E_WORLD/ca.pem:/ca.pem:ro" --ask good.org -- sleep 1000 >/dev/null
	"$VIV" exec asked curl -sS --max-time 170 --cacert /ca.pem https://good.org/who >out1 2>&1 &
	soon open_is 1
	"$VIV" approvals allow --always "$(newest)"
	wait $!
	like "$(cat out1)" 'good.org * 443 HTTP/2.0'
	like "$("$VIV" exec asked curl -sS --max-time 170 --cacert /ca.pem https://good.org/who)" 'good.org * 443 HTTP/2.0'
	is "$("$VIV" policy show asked | tail -n 1)" 'allow net good.org:443'
	soon open_is 0
}
check 'an answer about a connection can become a rule' always

# ---- requests ----

# The same for connections that the gate opens.
fetch_opened() { # file, options of viv..., --, options of curl...
	local to=$1 given=()
	shift
	while [[ $1 != -- ]]; do given+=("$1") && shift; done
	shift
	viv --quiet "${given[@]}" -- curl -sS --max-time 50 "$@" >"$to" 2>&1 &
	cell=$!
}

requests() {
	local version
	at_end stop_vivd
	for version in --http1.1 --http2; do
		fetch_opened out1 --allow 'good.org GET /who' --ask 'good.org POST /held**' -- $version -d 'a body' 'https://good.org/held/x?key=private'
		soon open_is 1
		id=$(newest)
		is "$(member "$id" scope) $(member "$id" action) $(member "$id" method) $(member "$id" name) $(member "$id" port) $(member "$id" path)" \
			'net request POST good.org 443 /held/x'
		is "$(member "$id" program) $(member "$id" rule)" '/usr/bin/curl ask net good.org POST /held**'
		like "$("$VIV" approvals ls)" '*request POST good.org:443/held/x*'
		"$VIV" approvals show --json "$id" >shown
		"$VIV" events --no-follow --json >>shown
		! grep -q private shown
		"$VIV" approvals allow "$id"
		wait "$cell"
		is "$(cat out1)" 'held POST'
		soon open_is 0
		fetch_opened out2 --ask 'good.org POST' -- $version -d x https://good.org/held -w ' %{http_code}'
		soon open_is 1
		"$VIV" approvals deny "$(newest)"
		wait "$cell"
		like "$(cat out2)" '*the operator denies POST https://good.org/held*403'
	done
	# Plain HTTP, and a rule about the whole host beside one about requests.
	fetch_opened out3 --ask good.org --allow 'good.org GET' -- http://good.org/held -d x
	soon open_is 1
	is "$(member "$(newest)" method) $(member "$(newest)" port)" 'POST 80'
	"$VIV" approvals allow "$(newest)"
	wait "$cell"
	is "$(cat out3)" 'held POST'
	is "$(grep -c 'POST /held/x' "$scratch/world.access")" 2
}
check 'a request waits until it is answered @r' requests

held_streams() {
	at_end stop_vivd
	viv --quiet --allow 'good.org GET /who' --ask 'good.org /put' --ask 'good.org /held' --mount "$E2E_DIR/heldrequests.py:/t.py:ro" -- \
		python3 /t.py streams >out1 2>&1 &
	cell=$!
	soon open_is 2
	soon grep -q '^9 good.org' out1
	"$VIV" approvals allow "$("$VIV" approvals ls -q | head -n 1)"
	soon grep -q '^1 end 127.0.0.1' out1 || { cat out1; return 1; }
	"$VIV" approvals deny "$(newest)"
	wait "$cell"
	like "$(grep '^3 ' out1)" '3 end *the operator denies GET https://good.org/held*'
	# Of a client that goes away, nothing waits; what it sent ahead was not read without end.
	mkfifo input
	viv --quiet --ask 'good.org GET' --mount "$E2E_DIR/heldrequests.py:/t.py:ro" -i -- python3 /t.py gone >out2 2>&1 <input &
	cell=$!
	exec 7>input
	soon open_is 1
	soon grep -q full out2
	exec 7>&-
	wait "$cell"
	soon open_is 0
	! grep -q 'GET /held' "$scratch/world.access"
}
check 'other streams go on; a client that is gone does not wait' held_streams

reviewed() {
	at_end stop_vivd
	at_end '"$VIV" rm -f asked >/dev/null'
	"$VIV" run -d --name asked --mount "$E2E_DIR/heldrequests.py:/t.py:ro" --ask 'good.org GET /held' --ask 'good.org POST' \
		--allow 'good.org GET /who' -- sleep 1000 >/dev/null
	# Always: the rule is for later requests as well.
	"$VIV" exec asked curl -sS --max-time 50 https://good.org/held >out1 2>&1 &
	soon open_is 1
	"$VIV" approvals allow --always "$(newest)"
	wait $!
	is "$(cat out1)" 'held GET'
	is "$("$VIV" policy show asked | tail -n 1)" 'allow net good.org:443 GET /held'
	is "$("$VIV" exec asked curl -sS --max-time 20 https://good.org/held)" 'held GET'
	# A path that servers read in several ways is no rule.
	"$VIV" exec asked curl -sS --max-time 50 -d x https://good.org/held/a%20b >out2 2>&1 &
	soon open_is 1
	exits 2 "$VIV" approvals allow --always "$(newest)"
	grep -q 'no rule can say this' err
	"$VIV" approvals deny "$(newest)"
	wait $!
	# The policy changes while two wait: each is decided on its own, and nothing else ends.
	"$VIV" exec asked curl -sS --max-time 50 -d x https://good.org/held/1 >out3 2>&1 &
	one=$!
	"$VIV" exec asked curl -sS --max-time 50 -d x https://good.org/held/2 -w ' %{http_code}' >out4 2>&1 &
	two=$!
	"$VIV" exec asked curl -sS --max-time 50 -X POST https://good.org/put >out5 2>&1 &
	three=$!
	soon open_is 3
	"$VIV" policy add asked 'allow net good.org POST /held/1' 'deny net good.org POST /held/2'
	wait "$one" "$two"
	is "$(cat out3)" 'held POST'
	like "$(cat out4)" '*a rule denies POST*403'
	soon open_is 1
	"$VIV" approvals allow "$(newest)"
	wait "$three"
	like "$(cat out5)" '127.0.0.1*'
}
check 'a change of the policy decides every request that waits' reviewed

under_way() {
	at_end stop_vivd
	at_end '"$VIV" rm -f asked >/dev/null'
	truncate -s 64M "$scratch/www/large"
	"$VIV" run -d --name asked --allow 'good.org GET /large' --allow 'good.org GET /who' -- sleep 1000 >/dev/null
	# Two downloads on one connection, which nobody reads to the end, and one on another.
	"$VIV" exec asked sh -c 'curl -sS --http2 --max-time 100 --limit-rate 100k https://good.org/large -o /tmp/first; echo ended $?' >out1 2>&1 &
	one=$!
	"$VIV" exec asked sh -c 'curl -sS --http1.1 --max-time 100 --limit-rate 100k https://good.org/large -o /tmp/got & wait; echo ended' >out2 2>&1 &
	two=$!
	soon sh -c '"$1" exec asked test -s /tmp/first -a -s /tmp/got' - "$VIV"
	"$VIV" policy add asked 'deny net good.org GET /other'
	"$VIV" policy add asked 'deny net good.org GET /large'
	wait "$one" "$two"
	like "$(cat out1)" '*ended 92' # the stream was reset, not the connection
	like "$(cat out2)" '*ended'
	is "$("$VIV" exec asked curl -sS --max-time 20 -o /dev/null -w '%{http_code}' https://good.org/large)" 403
}
check 'and ends those that are under way and denied' under_way

server_left() { [[ -z $(ss -tnH state established '( sport = :8443 )') ]]; }
server_gone() {
	at_end stop_vivd
	local version
	# The request is sent on another connection.
	for version in --http1.1 --http2; do
		rm -f out1
		fetch_opened out1 --ask 'good.org:8443 GET /held' -- $version https://good.org:8443/held
		soon open_is 1
		soon server_left
		"$VIV" approvals allow "$(newest)"
		wait "$cell"
		like "$(cat out1)" 'held GET'
	done
}
check 'a server need not wait as long' server_gone

# ---- datagrams ----

datagrams() {
	at_end stop_vivd
	viv --quiet --ask 'tcp.org:7 udp' -- python3 -c '
import socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.connect((socket.gethostbyname("tcp.org"), 7))
for i in range(20):
    s.send(b"%d" % i)
s.settimeout(50)
got = [s.recv(100).decode() for _ in range(16)]
s.send(b"more")
print(*got, s.recv(100).decode())' >out1 2>&1 &
	cell=$!
	soon open_is 1
	is "$(member "$(newest)" protocol) $(member "$(newest)" name) $(member "$(newest)" port)" 'udp tcp.org 7'
	"$VIV" approvals allow "$(newest)"
	wait "$cell"
	is "$(cat out1)" '0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 more'
	viv --quiet --ask 'tcp.org:7 udp' -- python3 -c '
import socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.connect((socket.gethostbyname("tcp.org"), 7))
s.send(b"x")
s.settimeout(50)
try:
    print(s.recv(100))
except PermissionError:
    print("denied")' >out2 2>&1 &
	cell=$!
	soon open_is 1
	"$VIV" approvals deny "$(newest)"
	wait "$cell"
	is "$(cat out2)" denied
	soon open_is 0
}
check 'datagrams wait until they are answered @r' datagrams

# ---- hostile clients ----

gate_kib() { awk '/VmHWM/ { print $2 }' "/proc/$(descendants | awk '$2 ~ /viv-gate/ { print $1 }')/status"; }
floods() {
	at_end stop_vivd
	at_end '"$VIV" rm -f asked >/dev/null'
	"$VIV" run -d --name asked --mount "$E2E_DIR/heldrequests.py:/t.py:ro" --ask 'good.org POST,GET' --allow 'good.org GET /who' \
		--ask 'tcp.org:1000-60000 udp' -- sleep 1000 >/dev/null
	timeout 200 "$VIV" exec asked python3 /t.py flood >out1 2>&1
	like "$(cat out1)" '80 True * good.org 93.184.216.34 443 HTTP/2.0'
	(($(gate_kib) < 200000)) || { echo "$(gate_kib) KiB"; return 1; }
	(($(open_now) <= 128))
	timeout 100 "$VIV" exec asked python3 /t.py resets >out2 2>&1
	like "$(cat out2)" '3 good.org 93.184.216.34 443 HTTP/2.0'
	mkfifo input
	"$VIV" exec -i asked python3 /t.py udp 400 >out3 2>&1 <input &
	exec 7>input
	soon grep -q sent out3
	(($(open_now) <= 128))
	exec 7>&-
	wait $!
	is "$("$VIV" exec asked curl -sS --max-time 20 https://good.org/who)" 'good.org 93.184.216.34 443 HTTP/2.0'
}
check 'a flood of questions is bounded' floods
world_end
