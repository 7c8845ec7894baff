# Secrets: programs in cells use keys that they never see. shellcheck shell=bash
# world
# shellcheck source=tests/e2e/world.sh
. "$E2E_DIR/world.sh"
world_name_server
# shellcheck disable=SC2016
world_web 'location /h2 { add_header X-Echo $http_x_api_key; return 200 $http_x_api_key; }'
seen=$scratch/seen
world_run echo python3 "$E2E_DIR/secretserver.py" "$E2E_WORLD" "$seen" 8443 93.184.216.34 93.184.216.35
world_wait 93.184.216.34 8443

VALUE='real-value/of+the&key%42'
OTHER='second-value-of-the-key'
# The value and its parts in the forms in which somebody would recognize it.
FORMS=("$VALUE" real-value 'real-value%2F' 'real-value\/' cmVhbC12YWx1ZS9 JlYWwtdmFsdWUvb yZWFsLXZhbHVlL2 7265616c2d76616c7565 "$OTHER")

key_set() { # value, options...
	own_vivd
	printf %s "$1" | v secret set KEY "${@:2}" >set.out
	holder=$(v secret show KEY | awk '$1 == "placeholder" { print $2 }')
	: >"$seen"
}
everywhere=(--host good.org --host good.org:8443 --header x-api-key --bearer --basic '*' --query key)
# A cell that may reach both hosts.
cell() { viv --secret KEY --allow good.org:443,8443 --allow 'other.org:443,8443 GET,POST' "$@"; }
# No file of these has the value in any form.
clean() { # file...
	local f
	for f in "${FORMS[@]}"; do
		if grep -rlaF -e "$f" "$@"; then
			echo "has '$f'"
			return 1
		fi
	done
}
arrived() { # text
	grep -qaF -e "$1" "$seen" || { echo "not in what the server has seen: $1"; tail -n 20 "$seen"; return 1; }
}

reaches() {
	local auth
	key_set "$VALUE" "${everywhere[@]}"
	cell -- sh -c 'env; curl -sS -H "X-Api-Key: $KEY" https://good.org:8443/plain' >out
	clean out
	grep -qx "KEY=$holder" out
	is "$(tail -n 1 out)" "$holder" 'what came back'
	arrived "X-Api-Key: $VALUE"
	cell -- sh -c 'curl -sS -H "Authorization: Bearer $KEY" https://good.org:8443/; curl -sS "https://good.org:8443/x?a=b&key=$KEY"
		curl -sS -u "me:$KEY" https://good.org:8443/; curl -sS -u "$KEY:" https://good.org:8443/'
	arrived "Authorization: Bearer $VALUE"
	arrived 'GET /x?a=b&key=real-value%2Fof%2Bthe%26key%2542 '
	for auth in "me:$VALUE" "$VALUE:"; do arrived "Authorization: Basic $(printf %s "$auth" | base64 -w0)"; done
}
check 'values reach their host, and the cell has placeholders @r' reaches

echoes() {
	local path
	key_set "$VALUE" "${everywhere[@]}"
	# shellcheck disable=SC2016
	cell -- sh -c 'for p in plain json url base64 hex gzip deflate br zstd split chunked chunked-gzip close header redirect reason early events; do
		echo "= $p"; curl -sS -i --raw -m 120 -H "x-api-key: $KEY" https://good.org:8443/$p; echo; echo "= $p basic"
		curl -sS -i --raw -m 120 -u "me:$KEY" https://good.org:8443/$p; echo; done
		echo "= query"; curl -sS -i "https://good.org:8443/plain?key=$KEY"; echo
		echo "= body"; curl -sS -i -H "x-api-key: $KEY" -d "x=$KEY" https://good.org:8443/plain' >out
	clean out
	for path in plain json url base64 hex gzip deflate br zstd split chunked chunked-gzip close header redirect reason early events query; do
		[[ $(sed -n "/^= $path\$/,/^= /p" out) == *"$holder"* ]] || { echo "$path does not have the placeholder"; return 1; }
	done
	# Two halves would not be found: there are none.
	cell -- sh -c 'curl -sS -r 0-9 -H "x-api-key: $KEY" https://good.org:8443/plain' >out
	is "$(<out)" "$holder"
	! grep -qai '^range:' "$seen" || { echo 'a part was asked for'; return 1; }
	# Nobody can look into these.
	# shellcheck disable=SC2016
	cell -- sh -c 'for p in unknown twice; do curl -sS -H "x-api-key: $KEY" https://good.org:8443/$p -w " %{http_code}\n"; done' >out
	clean out
	is "$(grep -c ' 502$' out)" 2
}
check 'a host that echoes a value gives the cell the placeholder: encoded, compressed, split, in headers @r' echoes

echoes_http2() {
	key_set "$VALUE" "${everywhere[@]}"
	# shellcheck disable=SC2016
	cell -- sh -c 'curl -sS -i --http2 -H "x-api-key: $KEY" https://good.org/h2' >out
	clean out
	like "$(head -n 1 out)" 'HTTP/2 200*'
	is "$(grep -c "$holder" out)" 2 'in the header and the body'
	# shellcheck disable=SC2016
	cell -- sh -c 'curl -sS --http2 -o /dev/null -w "%{http_code}\n" -H "x-other: $KEY" https://good.org/h2' >out
	is "$(<out)" 403
}
check 'the same over HTTP/2 @r' echoes_http2

echoes_frames() {
	key_set "$VALUE" "${everywhere[@]}"
	cat >ws.py <<-'END'
		import os, socket, ssl
		s = ssl.create_default_context().wrap_socket(socket.create_connection(("good.org", 8443)), server_hostname="good.org")
		s.sendall(("GET /ws HTTP/1.1\r\nHost: good.org:8443\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
		           "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Extensions: permessage-deflate\r\nx-api-key: %s\r\n\r\n" % os.environ["KEY"]).encode())
		f = s.makefile("rb")
		while (line := f.readline().strip()):
		    print(line.decode())
		for _ in range(2):
		    head = f.read(2)
		    print(f.read(head[1]).decode())
	END
	cell --mount "$PWD:/t:ro" -- python3 /t/ws.py >out
	clean out
	like "$(head -n 1 out)" 'HTTP/1.1 101 *'
	grep -qix "x-echo: $holder" out
	is "$(grep -cxF "you sent ${VALUE//?/*}" out)" 2 'frames of the same length'
	arrived "x-api-key: $VALUE"
	! grep -qi permessage-deflate "$seen" || { echo 'the server was offered to compress'; return 1; }
}
check 'WebSockets are cleaned, too @r' echoes_frames

bombs() {
	local g size path
	key_set "$VALUE" "${everywhere[@]}"
	v create --name c --secret KEY --allow good.org:8443 -- sleep 1000
	v start c
	for path in bomb brbomb; do
		# shellcheck disable=SC2016
		v exec c -- sh -c 'curl -sS -H "x-api-key: $KEY" https://good.org:8443/'$path' | tail -c 100 | tr -d "\0"' >out
		is "$(<out)" "$holder"
	done
	g=$(descendants | awk '$2 ~ /viv-gate/ { print $1 }')
	size=$(awk '$1 == "VmHWM:" { print $2 }' "/proc/$g/status")
	((size < 40 << 10)) || { echo "the gate has used $size kB"; return 1; }
	v rm -f c
}
check 'compression bombs are streams: the gate stays small @root' bombs

stream() {
	key_set "$VALUE" "${everywhere[@]}"
	# Each event is there when it was sent, not when the next one comes: the server sends that when it has been told.
	# shellcheck disable=SC2016
	cell -- sh -c 'curl -sSN -H "x-api-key: $KEY" "https://good.org:8443/events?4711" | while read -r line; do
		[ -z "$line" ] || { echo "$line"; curl -sS -o /dev/null "https://good.org:8443/heard?4711" </dev/null; }; done' >out
	is "$(wc -l <out)" 3
	is "$(grep -c "^data: [012] $holder\$" out)" 3
	clean out
}
check 'events are cleaned and not held back' stream

elsewhere() {
	key_set "$VALUE" "${everywhere[@]}"
	# shellcheck disable=SC2016
	cell -- sh -c 'say() { curl -sS -o /tmp/body -w "%{http_code} " "$@"; cat /tmp/body; echo; }
		say -H "x-api-key: $KEY" https://other.org:8443/plain
		say "https://other.org:8443/?key=$KEY"
		say -H "x-other: $KEY" https://good.org:8443/plain
		say -H "Authorization: Digest $KEY" https://good.org:8443/plain
		say -H "Cookie: a=$KEY" https://good.org:8443/plain
		say https://good.org:8443/$KEY
		say "https://good.org:8443/?other=$KEY"
		say -u "a:b" -H "x-api-key: x" https://good.org:8443/plain
		say -H "x-api-key: x" -d "$KEY" https://good.org:8443/plain' >out
	clean out "$seen"
	is "$(grep -c '^403 ' out)" 7
	is "$(grep -c '^200 ' out)" 2
	grep -q 'secret KEY is in a request to other.org, to which the secret is not bound' out
	! grep -aF -e "$holder" "$seen" | grep -v "^$holder\$" || { echo 'a placeholder was sent'; return 1; }
	# Another port and plain HTTP are other places, too.
	# shellcheck disable=SC2016
	viv --secret KEY --allow 'good.org:80 GET /*' -- sh -c 'curl -sS -o /dev/null -w "%{http_code}\n" -H "x-api-key: $KEY" http://good.org/h2' >out
	is "$(<out)" 403
}
check 'a placeholder for another host, another place, in the clear: refused @r' elsewhere

bodies() {
	key_set "$VALUE" --host good.org:8443 --body
	# shellcheck disable=SC2016
	cell -- sh -c 'curl -sS -d "a=$KEY&b=1" https://good.org:8443/plain; curl -sS -H "Content-Type: application/json" -d "{\"key\":\"$KEY\"}" https://good.org:8443/plain' >out
	clean out
	arrived 'a=real-value%2Fof%2Bthe%26key%2542&b=1'
	arrived "{\"key\":\"$VALUE\"}"
}
check 'a value in the body, if that is asked for' bodies

changes() {
	key_set "$VALUE" "${everywhere[@]}"
	v create --name c --secret KEY --allow good.org:8443 -- sleep 1000
	v start c
	# shellcheck disable=SC2016
	ask() { v exec c -- sh -c 'curl -sS -H "x-api-key: $KEY" https://good.org:8443/plain'; }
	is "$(ask)" "$holder"
	arrived "x-api-key: $VALUE"
	printf %s "$OTHER" | v secret set KEY
	is "$(v secret show KEY | awk '$1 == "placeholder" { print $2 }')" "$holder"
	new() { is "$(ask)" "$holder" && arrived "x-api-key: $OTHER" >/dev/null; }
	soon new
	# The value that it was is scrubbed as well.
	is "$(v exec c -- curl -sS -d "$VALUE" https://good.org:8443/plain)" "$holder"
	v daemon stop
	: >"$seen"
	new
	v secret rm KEY
	# The placeholder is not sent as a plain text: by neither version of HTTP, nor by the next gate.
	gone() { : >"$seen" && ask >out && grep -q 'the secret was removed' out && [[ ! -s $seen ]]; }
	soon gone
	for how in --http1.1 --http2; do
		# shellcheck disable=SC2016
		is "$(v exec c -- sh -c "curl -sS -o /dev/null -w '%{http_code}' $how -u \"user:\$KEY\" https://good.org:8443/plain")" 403
	done
	kill -9 "$(descendants | awk '$2 ~ /viv-gate/ { print $1 }')"
	soon gone
	is "$(v exec c -- curl -sS -o /dev/null -w '%{http_code}' https://good.org:8443/plain)" 200
	v rm -f c
}
check 'a new value reaches a running cell, and a removed one leaves it' changes

sources() {
	own_vivd
	echo file-value-one >value
	v secret set F --from-file value --host good.org:8443
	v secret set C --from-command "cat $PWD/value; touch $PWD/ran" --host good.org:8443
	E=env-value-one v secret set E --from-env E --host good.org:8443
	[[ ! -e ran ]]
	: >"$seen"
	# shellcheck disable=SC2016
	ask() { viv --secret F --secret C --secret E --allow good.org:8443 -- sh -c 'for k in "$F" "$C" "$E"; do curl -sS -H "Authorization: Bearer $k" https://good.org:8443/plain; echo; done'; }
	ask >out
	[[ -e ran ]]
	is "$(grep -ca 'Bearer file-value-one' "$seen")" 2
	arrived 'Bearer env-value-one'
	fails grep -e '-value-' out
	echo file-value-two >value
	E=env-value-two v secret refresh E
	ask >out
	is "$(grep -ca 'Bearer file-value-two' "$seen")" 2
	arrived 'Bearer env-value-two'
	echo x >value
	exits 125 viv --secret F --allow good.org -- true
	like "$(<err)" "*secret 'F' cannot be used*"
	exits 125 viv --secret nobody --allow good.org -- true
	like "$(<err)" "*there is no secret 'nobody'*"
	v secret set C --from-command 'exit 3' --host good.org
	exits 125 viv --secret C --allow good.org -- true
	like "$(<err)" '*failed (status 3)*'
	# A variable with a name that is well known needs no secret to be set.
	OPENAI_API_KEY=sk-of-the-environment viv --secret OPENAI_API_KEY --allow good.org -- env >out
	like "$(grep ^OPENAI_API_KEY= out)" 'OPENAI_API_KEY=sk-viv-secret-*'
	exits 125 viv --secret OPENAI_API_KEY --allow good.org -- true
}
check 'values from files, commands and variables @r' sources

at_rest() {
	local f p
	key_set "$VALUE" "${everywhere[@]}"
	v create --name c --secret KEY --allow good.org:8443 -- sleep 1000
	v start c
	# shellcheck disable=SC2016
	v exec c -- sh -c 'curl -sS -H "x-api-key: $KEY" https://good.org:8443/plain; cat /proc/*/environ /proc/*/cmdline' >exec.out
	arrived "$VALUE"
	{ v inspect c; v ps; v logs c; v secret ls; v secret show KEY; v secret ls --json; v events --since 0 --no-follow 2>&1 || true; } >shown
	clean exec.out shown set.out "$XDG_STATE_HOME" "$XDG_DATA_HOME" "$XDG_RUNTIME_DIR"
	is "$(stat -c %a "$XDG_STATE_HOME/vivarium/secrets" "$XDG_STATE_HOME/vivarium/secrets/KEY" "$XDG_CONFIG_HOME/vivarium/secrets.key" | tr '\n' ' ')" '700 600 600 '
	for p in $(descendants | awk '{ print $1 }'); do
		cat "/proc/$p/environ" "/proc/$p/cmdline" >>procs 2>/dev/null || true
	done
	clean procs
	# One who has the files and not the key has nothing, and cannot bind it to a host of his own.
	v daemon stop
	mv "$XDG_CONFIG_HOME/vivarium/secrets.key" key
	exits 125 viv --secret KEY --allow good.org -- true
	like "$(<err)" '*cannot open the key of the secrets*'
	mv key "$XDG_CONFIG_HOME/vivarium/secrets.key"
	cp "$XDG_STATE_HOME/vivarium/secrets/KEY" "$XDG_STATE_HOME/vivarium/secrets/KEY2"
	exits 125 viv --secret KEY2 --allow good.org -- true
	like "$(<err)" '*cannot be decrypted*'
	chmod 644 "$XDG_CONFIG_HOME/vivarium/secrets.key"
	exits 125 viv --secret KEY --allow good.org -- true
	like "$(<err)" '*others may read the key*'
	chmod 600 "$XDG_CONFIG_HOME/vivarium/secrets.key"
	v rm -f c
}
check 'a value is in no file, no list, no command line and no environment @r' at_rest

no_cores() {
	local p
	key_set "$VALUE" "${everywhere[@]}"
	ulimit -c unlimited
	v create --name c --secret KEY --allow good.org:8443 -- sleep 1000
	v start c
	v exec c -- curl -sS https://good.org:8443/ >out
	p=$(descendants | awk '$2 ~ /viv-keeper/ { print $1 }')
	for p in $p $(descendants | awk '$2 ~ /vivd$/ { print $1 }'); do
		like "$(grep '^Max core file size ' "/proc/$p/limits")" 'Max core file size *1 *bytes*'
	done
	exits 2 "${VIV%/*}/vivd" --secrets KEY
	[[ ! -s out ]]
	"${VIV%/*}/vivd" --secrets KEY >file 2>/dev/null && return 1
	clean file err
	v rm -f c
}
check 'no cores, and nobody gets values from vivd' no_cores

verbs() {
	own_vivd
	exits 2 v secret set KEY --host good.org </dev/null
	for bad in short $'two\nlines of it' $'control\x01character' 'ümlaut-value'; do
		printf %s "$bad" | try v secret set KEY --host good.org
		is "$rc" 2 "'$bad'"
		fails grep -F -e "$bad" err
	done
	printf 'long-enough' | try v secret set KEY
	like "$(<err)" '*needs 1 to 16 hosts*'
	printf 'long-enough' | try v secret set KEY --host '*'
	is "$rc" 2
	printf 'sk-ant-something' | v secret set ANTHROPIC_API_KEY >out
	like "$(<out)" 'ANTHROPIC_API_KEY: header x-api-key, bearer of api.anthropic.com; *'
	like "$(v secret show ANTHROPIC_API_KEY)" '*sk-ant-api03-viv-secret-*'
	is "$(v secret ls -q)" ANTHROPIC_API_KEY
	v secret rm ANTHROPIC_API_KEY
	exits 3 v secret rm ANTHROPIC_API_KEY
	exits 3 v secret show ANTHROPIC_API_KEY
	is "$(v secret ls -q)" ''
	# A terminal is asked, and shows nothing of it.
	PYTHONPATH=$E2E_DIR python3 -B -c 'from terminal import *
t = Terminal([VIV, "secret", "set", "T", "--host", "good.org"])
t.expect("Value of T:")
t.soon(lambda: not t.attributes()[3] & termios.ECHO)
t.type("typed-value-of-it\r")
assert t.wait() == 0, t.out
assert b"typed-value" not in t.out, t.out'
	v secret rm T
}
check 'viv secret @r' verbs

trusts() {
	key_set "$VALUE" "${everywhere[@]}"
	printf 'import urllib.request\nprint(urllib.request.urlopen("https://good.org:8443/").read().decode(), end="")\n' >u.py
	printf 'fetch("https://good.org:8443/").then(async r => process.stdout.write(await r.text()))\n' >f.mjs
	cell --mount "$PWD:/t:ro" -- sh -c 'curl -sS https://good.org:8443/; wget -qO- https://good.org:8443/; python3 /t/u.py; node /t/f.mjs
		echo | openssl s_client -quiet -verify_return_error -connect good.org:8443 -servername good.org 2>&1 | grep -c "verify return:1"
		env -i /usr/bin/curl -sS https://good.org:8443/; git -c http.version=HTTP/1.1 ls-remote https://good.org:8443/x 2>&1 | grep -ci certificate
		grep -c BEGIN /etc/viv-ca.pem' >out 2>&1 || true
	is "$(tr '\n' ' ' <out)" 'hello hello hello hello 2 hello 0 1 '
	# Java, if it is there and this host keeps its certificates as Debian does.
	if command -v java >/dev/null && [[ -e /etc/ssl/certs/java/cacerts ]]; then
		echo 'class U { public static void main(String[] a) throws Exception { System.out.write(new java.net.URL("https://good.org:8443/").openStream().readAllBytes()); System.out.flush(); } }' >U.java
		is "$(cell --mount "$PWD:/t:ro" -- java /t/U.java)" hello Java
		like "$(cell -- keytool -list -cacerts -storepass changeit 2>&1)" '*vivarium-cell-ca*'
	fi
	# What the user says, counts.
	is "$(cell --env SSL_CERT_FILE=/x -- sh -c 'echo $SSL_CERT_FILE')" /x
	# Without secrets and without rules about requests there is nothing of it.
	is "$(viv --allow good.org -- sh -c 'ls /etc/viv-*; env | grep -c PEM' 2>/dev/null)" 0
}
check 'curl, wget, Python, Node, OpenSSL and git trust the cell'"'"'s CA' trusts

images() {
	key_set "$VALUE" "${everywhere[@]}"
	mkdir -p root/bin root/etc/ssl/certs bare/bin
	cp "$(command -v busybox)" root/bin/sh
	cp root/bin/sh bare/bin/sh
	printf 'THE BUNDLE OF THE IMAGE' >root/etc/ssl/certs/ca-certificates.crt
	v image import root --tag with
	v image import bare --tag without
	cell --image with -- sh -c 'cat /etc/ssl/certs/ca-certificates.crt' >out
	is "$(head -n 1 out)" 'THE BUNDLE OF THE IMAGE'
	is "$(sed -n 2p out)" '-----BEGIN CERTIFICATE-----'
	is "$(cell --image with -- sh -c 'cmp /etc/ssl/certs/ca-certificates.crt $SSL_CERT_FILE && echo same')" same
	is "$(cell --image without -- sh -c 'grep -c BEGIN $SSL_CERT_FILE $NODE_EXTRA_CA_CERTS')" $'/etc/viv-bundle.pem:1\n/etc/viv-ca.pem:1'
	# It is a file like any other, which can be replaced.
	is "$(cell --image with -- sh -c 'cd /etc/ssl/certs; echo new >x; mv x ca-certificates.crt; cat ca-certificates.crt')" new
}
check 'images have the CA beside their own certificates @r' images

world_end
