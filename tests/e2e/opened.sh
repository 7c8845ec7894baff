# Connections that the gate opens: methods and paths of rules, plain HTTP. shellcheck shell=bash
# world
# shellcheck source=tests/e2e/world.sh
. "$E2E_DIR/world.sh"
world_name_server
# A body is read before it is answered.
world_web 'location /put { proxy_pass http://127.0.0.1:80/who; }'
certs=$scratch/certs
mkdir "$certs" && cp "$E2E_WORLD"/{ca,server}.{pem,key} "$certs"
world_certificate "$certs" wrongname DNS:wrong.org
world_certificate "$certs" expired DNS:other.org -days 0
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout "$certs/selfsigned.key" -out "$certs/selfsigned.pem" \
	-days 2 -subj /CN=other.org -addext subjectAltName=DNS:other.org 2>/dev/null
world_run webserver python3 "$E2E_DIR/webserver.py" "$certs"
world_wait 93.184.216.35 8001 93.184.216.35 8447

# curl in a cell; options of viv first, then --, then those of curl. Over IPv4: curl tries the other family, too, when an answer takes long.
fetch() {
	local given=()
	while [[ $1 != -- ]]; do given+=("$1") && shift; done
	shift
	viv "${given[@]}" -- curl ${IP--4} -sS --max-time "${SECONDS_MAX:-150}" "$@"
}
status() { fetch "$@" -o /dev/null -w '%{http_code}\n'; }

methods() {
	local version
	for version in --http1.1 --http2; do
		like "$(fetch --allow 'good.org GET /who' -- $version https://good.org/who)" 'good.org 93.184.216.34 443 HTTP/[12].[01]'
		is "$(status --allow 'good.org GET /who' -- $version https://good.org/who)" 200
		is "$(status --allow 'good.org GET /who' -- $version https://good.org/index.html)" 403
		is "$(status --allow 'good.org GET /who' -- $version -d x https://good.org/who)" 403
		is "$(status --allow good.org --deny 'good.org DELETE,PUT' -- $version -X DELETE https://good.org/)" 403
		is "$(status --allow good.org --deny 'good.org DELETE,PUT' -- $version https://good.org/)" 200
		# Several on one connection; what is denied does not disturb the others.
		is "$(status --allow 'good.org GET /who' -- $version https://good.org/who https://good.org/ https://good.org/who -o /dev/null -o /dev/null |
			xargs)" '200 403 200'
	done
	fetch --allow 'good.org GET /who' -- -i -X PATCH https://good.org/secret-of-nobody >answer
	grep -qi '^x-vivarium: denied' answer
	is "$(tail -n 1 answer | python3 -c 'import json,sys; e=json.load(sys.stdin)["error"]; print(e["code"], "PATCH" in e["message"], "allow net good.org" in e["remedy"])')" \
		'denied True True'
	fetch --allow good.org --deny 'good.org PATCH' -- -X PATCH https://good.org/ >answer
	is "$(field error.rule <answer)" 'deny net good.org PATCH'
	fails grep -q 'secret-of-nobody' "$scratch/world.access"
	# Without such rules it is passed: the certificate is the server's own.
	like "$(fetch --allow good.org -- -kv https://good.org/ 2>&1)" '*issuer: CN=World CA*'
	like "$(fetch --allow 'good.org GET' -- -v https://good.org/ 2>&1)" '*issuer: CN=Vivarium cell CA*'
}
check 'rules with methods and paths decide about each request @r' methods

paths() {
	local path
	for path in /v1/a /v1/a/b '/v1/a?x=/../..' /v1/a%20b /v1/@a%2fb; do
		is "$(status --allow 'other.org:8001 GET /v1/**' -- --path-as-is "http://other.org:8001$path")" 200 "$path"
	done
	for path in / /v2 /v1/../v2 /v1/%2e%2e/v2 /v1/%2e%2e%2fv2 /v1/..%2fv2 '/v1/..;/v2' '/v1/..\v2' /v1/%252e%252e/v2 //v2 /V1/a '/v1/..' ; do
		is "$(status --allow 'other.org:8001 GET /v1/**' -- --path-as-is "http://other.org:8001$path")" 403 "$path"
	done
	for path in /v1/%zz /v1/%00 /v1/%0d%0aX; do
		is "$(status --allow 'other.org:8001 GET /v1/**' -- --path-as-is "http://other.org:8001$path")" 400 "$path"
	done
	for path in //admin /x/../admin /%61dmin /x/%2e%2e/admin '/admin;a' '/x/..;/admin'; do
		is "$(status --allow 'other.org:8001' --deny 'other.org:8001 /admin' -- --path-as-is "http://other.org:8001$path")" 403 "$path"
	done
	is "$(status --allow 'other.org:8001 GET' -- -H 'X-HTTP-Method-Override: DELETE' http://other.org:8001/)" 403
}
check 'a path is allowed only if every way to read it is' paths

plain_http() {
	is "$(fetch --allow good.org -- http://good.org/who)" 'good.org 93.184.216.34 80 HTTP/1.1'
	is "$(status --allow good.org -- -H 'Host: other.org' http://good.org/who)" 421
	is "$(status --allow good.org --deny 'good.org POST' -- -d x http://good.org/who)" 403
	is "$(fetch --allow other.org:8001 -- http://other.org:8001/old)" 'until the end'
	is "$(fetch --allow other.org:8001 -- -I http://other.org:8001/x -o /dev/null -w '%{http_code} %{size_download}')" '200 0'
	is "$(fetch --allow other.org:8001 -- --http1.0 http://other.org:8001/events | grep -c '^data')" 5
	# A redirect leads nowhere that is not granted.
	exits 6 fetch --allow good.org -- -L 'http://good.org/to?url=http://same.org/who'
	is "$(fetch --allow good.org --allow same.org -- -L 'http://good.org/to?url=http://same.org/who')" 'same.org 93.184.216.34 80 HTTP/1.1'
	# apt and git and many others keep connections.
	is "$(fetch --allow other.org:8001 -- http://other.org:8001/a http://other.org:8001/b -w '%{num_connects}\n' | xargs)" \
		'GET /a HTTP/1.1 0 1 GET /b HTTP/1.1 0 0'
}
check 'plain HTTP for the name of the connection @r' plain_http

wrong_requests() {
	is "$(viv --allow other.org:8001 --mount "$E2E_DIR/rawhttp.py:/t.py:ro" -- python3 /t.py h1)" ''
	fails grep -q smuggled "$scratch/world.webserver"
	is "$(viv --allow 'good.org GET' --allow same.org --mount "$E2E_DIR/rawhttp.py:/t.py:ro" -- python3 /t.py h2)" ''
}
check 'requests that could be read in two ways are refused @r' wrong_requests

certificates() {
	local version
	for version in --http1.1 --http2; do
		like "$(fetch --allow 'other.org:8444 GET' -- $version https://other.org:8444/)" '*bad_gateway*certificate*mismatch*'
		like "$(fetch --allow 'other.org:8445 GET' -- $version https://other.org:8445/)" '*bad_gateway*certificate*expired*'
		like "$(fetch --allow 'other.org:8446 GET' -- $version https://other.org:8446/)" '*bad_gateway*certificate*self*signed*VIV_CA_FILE*'
	done
	is "$(status --allow 'other.org:8446 GET' -- https://other.org:8446/)" 502
	is "$(VIV_CA_FILE=$certs/selfsigned.pem status --allow 'other.org:8446 GET' -- https://other.org:8446/)" 200
	like "$(SSL_CERT_FILE=$certs/selfsigned.pem fetch --allow 'good.org GET' -- https://good.org/)" '*bad_gateway*certificate*'
	# The server name is that of the connection.
	exits 35 fetch --allow 'good.org GET' --allow 'other.org GET' -- -k --connect-to other.org:443:good.org:443 https://other.org/
	exits 35 fetch --allow 'good.org GET' -- -k --connect-to ::good.org:443 https://93.184.216.34/
}
check 'servers are verified, for the client @r' certificates

streams() {
	local out
	is "$(viv --allow other.org:8001 --allow 'other.org:8443 GET' --mount "$E2E_DIR/rawhttp.py:/t.py:ro" -- python3 /t.py websocket | xargs)" \
		'echoed echoed'
	# Events come when they are sent: the server sends one when it has been told that the one before has come.
	out=$(viv --allow 'other.org:8443 GET' -- python3 -c '
import urllib.request
n = 0
with urllib.request.urlopen("https://other.org:8443/events?%d" % 4711) as r:
    for line in r:
        if line.startswith(b"data"):
            n += 1
            urllib.request.urlopen("https://other.org:8443/heard?4711").read()
print(n)')
	is "$out" 5
	is "$(fetch --allow 'other.org:8443 POST' -- -d "$(printf '%070000d' 0)" -H 'Expect: 100-continue' https://other.org:8443/length)" 70000
	is "$(viv --allow 'other.org:8443 POST' -- bash -c 'head -c 3000000 /dev/zero | curl -sS -T - -X POST https://other.org:8443/length')" 3000000
	is "$(viv --allow 'other.org:8443 POST' -- bash -c 'head -c 3000000 /dev/zero | curl -sS --data-binary @- https://other.org:8443/early')" 'too large'
}
check 'WebSockets, events, and bodies of unknown length @r' streams

gate_memory() { awk '/VmHWM/ { print $2 }' "/proc/$(descendants | awk '$2 ~ /viv-gate/ { print $1 }')/status"; }
large() {
	local LIMIT=400 SECONDS_MAX=300
	truncate -s 256M "$scratch/www/large"
	own_vivd
	v create --name c --allow 'good.org GET,PUT' --allow 'good.org:80' -- sleep 1000
	v start c
	is "$(v exec c -- curl -4 -sS https://good.org/who)" 'good.org 93.184.216.34 443 HTTP/2.0'
	local before
	before=$(gate_memory)
	timeout 250 "$VIV" exec c -- bash -ec '
		curl -sS --http2 https://good.org/large | wc -c
		curl -sS --http1.1 https://good.org/large | wc -c
		head -c 268435456 /dev/zero | curl -sS --http2 -T - https://good.org/put -o /dev/null -w "%{size_upload}\n"
		truncate -s 256M /tmp/z
		curl -sS --http1.1 -T /tmp/z https://good.org/put -o /dev/null -w "%{size_upload}\n"
		# A client that does not read stops the server.
		curl -sS --http2 https://good.org/large | (sleep 3; head -c 1000000 | wc -c)
		curl -sS --http1.1 http://good.org/large | (sleep 3; head -c 1000000 | wc -c)' 2>/dev/null >sizes
	is "$(xargs <sizes)" '268435456 268435456 268435456 268435456 1000000 1000000'
	(($(gate_memory) < before + 24000)) || { echo "from $before to $(gate_memory) KiB"; return 1; }
	v rm -f c
}
check 'large bodies down and up in constant memory' large

hostile_servers() {
	local path pid
	own_vivd
	v create --name c --allow other.org:8002 --allow 'other.org:8447 GET' -- sleep 1000
	v start c
	for path in both lengths nonsense version fold bare switch fields gone endless interims; do
		is "$(v exec c -- curl -sS -o /dev/null -w '%{http_code}' --max-time 120 "http://other.org:8002/$path")" 502 "$path"
	done
	pid=$(descendants | awk '$2 ~ /viv-gate/ { print $1 }')
	for path in chunk size short cut; do
		try v exec c -- curl -sS --max-time 120 "http://other.org:8002/$path"
		[[ $rc == 18 || $rc == 56 ]] || { echo "$path: curl ends with $rc"; return 1; }
	done
	is "$(v exec c -- curl -sS --max-time 120 http://other.org:8002/slow)" abc
	for path in continuations bomb length window push goaway floods; do
		try v exec c -- curl -sS --http2 --max-time 120 -o /dev/null -w '%{http_code}' "https://other.org:8447/wrong-$path"
		[[ $rc != 0 && $rc != 28 || $(cat out) == 502 ]] || { echo "/wrong-$path: curl ends with $rc, $(cat out)"; return 1; }
	done
	is "$(descendants | awk '$2 ~ /viv-gate/ { print $1 }')" "$pid" 'the same gate'
	v rm -f c
}
check 'hostile servers get no further than the gate' hostile_servers

never() { # asked or ended: how often
	grep -c "never: $1" "$scratch/world.webserver" || true
}
# Servers that say nothing, and that break off; names that are IPv6 alone.
quiet_servers() {
	local url gate ended asked began
	own_vivd
	ended=$(never ended)
	asked=$(never asked)
	v create --name c --allow other.org:8001 --allow 'other.org:8443,8448 GET' -- sleep 1000
	v start c
	is "$(v exec c -- curl -4 -sS http://other.org:8001/x)" 'GET /x HTTP/1.1 0'
	gate=$(descendants | awk '$2 ~ /viv-gate/ { print $1 }')
	# A client waits for as long as it likes; when it goes, so does the connection to the server. Others are served meanwhile.
	v exec -d c -- sh -c 'curl -4 -sS --max-time 600 http://other.org:8001/never; touch /given-up' >/dev/null
	soon eval '(($(never asked) > asked))'
	began=$SECONDS
	for url in http://other.org:8001/never https://other.org:8443/never https://other.org:8448/; do
		asked=$(never asked)
		# shellcheck disable=SC2016
		v exec c -- sh -c 'echo $$ >/root/waits; exec curl -4 -sS --max-time 600 "$0"' "$url" >waited 2>&1 &
		soon eval '(($(never asked) > asked))'
		is "$(v exec c -- curl -4 -sS https://other.org:8443/x)" 'GET /x HTTP/1.1 0' "beside $url"
		# shellcheck disable=SC2016
		v exec c -- sh -c 'kill "$(cat /root/waits)"'
		rc=0
		wait $! || rc=$?
		is "$rc $(cat waited)" '143 ' "$url"
	done
	soon eval '(($(never ended) >= ended + 2))'
	# In the middle of a body a client sees that it is not whole; before that it gets an answer.
	for url in http://other.org:8001 https://other.org:8443; do
		try v exec c -- curl -4 -sS -o /dev/null --max-time 120 "$url/reset"
		[[ $rc == 18 || $rc == 56 ]] || { echo "$url/reset: curl ends with $rc"; return 1; }
		is "$(v exec c -- curl -4 -sS -o /dev/null -w '%{http_code}' --max-time 120 "$url/reset-head")" 502
	done
	is "$(descendants | awk '$2 ~ /viv-gate/ { print $1 }')" "$gate" 'the same gate'
	while ((SECONDS < began + 9)); do sleep 0.1; done
	exits 1 v exec c -- test -e /given-up
	v rm -f c
	is "$(IP=-6 fetch --allow 'six.org GET' -- https://six.org/who)" 'six.org 2606:2800:220:1::36 443 HTTP/2.0'
	is "$(IP='' fetch --allow six.org -- http://six.org/who)" 'six.org 2606:2800:220:1::36 80 HTTP/1.1'
}
check 'servers that never answer, servers that reset, names of IPv6 alone' quiet_servers

clients() {
	is "$(viv --allow 'good.org GET' -- python3 -c 'import urllib.request; print(urllib.request.urlopen("https://good.org/").read())')" "b'hello\\n'"
	is "$(viv --allow 'good.org GET' -- python3 -c '
import http.client
c = http.client.HTTPSConnection("good.org")
for i in range(50):
    c.request("GET", "/"); assert c.getresponse().read() == b"hello\n"
c.request("POST", "/", b"x"); r = c.getresponse(); print(r.status, r.getheader("x-vivarium"))')" '403 denied'
	if command -v node >/dev/null; then
		is "$(viv --allow 'good.org GET' -- node -e 'fetch("https://good.org/").then(async r => console.log(r.status, (await r.text()).trim()))')" '200 hello'
		is "$(viv --allow 'good.org GET' -- node -e '
const c = require("http2").connect("https://good.org");
let left = 30;
for (let i = 0; i < 30; i++) {
	const r = c.request({ ":path": i % 3 ? "/who" : "/", ":method": i == 7 ? "POST" : "GET" });
	r.on("response", h => { if (h[":status"] != (i == 7 ? 403 : 200)) console.log(i, h[":status"]); });
	r.on("data", () => {});
	r.on("end", () => { if (!--left) { console.log("done"); c.close(); } });
	r.end();
}')" 'done'
	fi
	is "$(viv --allow 'good.org GET' -- bash -c 'for i in 1 2 3 4 5 6 7 8; do curl -sS -Z https://good.org/{who,who,,who} 2>/dev/null >/dev/null & done; wait; echo all')" all
}
check 'Python, Node and several at once @r' clients

same_ca() {
	local gate
	own_vivd
	v create --name c --allow 'good.org GET' -- sleep 1000
	v start c
	is "$(v exec c -- curl -sS https://good.org/)" hello
	gate=$(descendants | awk '$2 ~ /viv-gate/ { print $1 }')
	kill -9 "$gate"
	soon test ! -e "/proc/$gate"
	is "$(v exec c -- curl -sS https://good.org/)" hello 'with another gate'
	v rm -f c
}
check 'the CA of a cell stays the same when its gate is replaced @r' same_ca

world_end
