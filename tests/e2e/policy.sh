# Policies of cells: shown, checked, changed while cells run, learnt, and what is denied. shellcheck shell=bash
# world
# shellcheck source=tests/e2e/world.sh
. "$E2E_DIR/world.sh"
world_name_server
world_web
world_plain

# A cell in the background that runs nothing. name, options of viv run...
begin_cell() {
	v run -d --name "$1" --mount "$E2E_WORLD/ca.pem:/ca.pem:ro" "${@:2}" -- sleep 1000 >/dev/null || return 1
}
get() { v exec "$1" curl -4 -sS --max-time 120 --cacert /ca.pem "${@:2}"; } # cell, curl's words... Over IPv4: curl tries the other family, too, when an answer takes long

shown() {
	own_vivd
	begin_cell shown --network packages --allow good.org --deny rubygems.org || return 1
	is "$(v policy show shown)" $'use packages\nallow net good.org\ndeny net rubygems.org'
	is "$(api /v1/cells/shown/policy | field rules)" '["use packages", "allow net good.org", "deny net rubygems.org"]'
	like "$(v policy show packages)" '*allow net registry.npmjs.org*'
	is "$(v policy presets | awk '{ print $1 }' | xargs)" 'none open audit parent packages git claude codex opencode pi gemini'
	exits 3 v policy show nothing
	# What would happen, and why.
	is "$(v policy check shown --connect https://good.org/x)" 'allow: allow net good.org (policy, line 2)'
	is "$(v policy check shown --connect https://pypi.org/)" 'allow: allow net pypi.org (preset packages)'
	exits 1 v policy check shown --connect https://rubygems.org/
	is "$(cat out)" 'deny: deny net rubygems.org (policy, line 3)'
	exits 1 v policy check shown --connect good.org:22
	is "$(cat out)" 'deny: no rule matches'
	exits 1 v policy check shown --connect 169.254.169.254:80
	like "$(cat out)" 'deny: no rule matches; this address is not public*'
	exits 0 v policy check shown --file /etc/passwd --access write
	exits 2 v policy check shown --connect 'https://'
	exits 2 v policy check shown
	is "$(api /v1/cells/shown/policy/check -d '{"connect":"https://good.org/"}' | field verdict)" allow
	is "$(status_of /v1/cells/shown/policy/check -d '{"connect":"https://good.org/","file":"/x"}')" 400
	is "$(status_of /v1/cells/shown/policy/check -d '{"nope":1}')" 400
}
check 'viv policy show, presets and check' shown

from_file() {
	own_vivd
	printf 'allow net good.org\nask net other.org\ndeny exec **/sudo\n' >p
	exits 10 v policy check --policy p --connect https://other.org/
	is "$(cat out)" 'ask: ask net other.org (p, line 2)'
	exits 1 v policy check --policy p --exec /usr/bin/sudo
	is "$(v policy check --policy - --connect good.org:443 <p)" \
		'allow: allow net good.org (standard input, line 1); only TLS with this name as the server'\''s, or HTTP for it'
	# Mistakes have a place.
	printf 'allow net good.org\nallow nett x\n' >bad
	exits 2 v policy check --policy bad --connect good.org:443
	like "$(cat err)" '*bad:2:7: *'
	exits 125 viv --policy bad -- true
	like "$(cat err)" '*bad:2:7: *'
	printf 'allow net good.org\ndeny net *\n' >dead
	exits 125 viv --policy dead -- true
	like "$(cat err)" '*dead:1:1: *can never decide*'
	printf 'allow cells x max=0\n' >cells
	exits 125 viv --policy cells -- true
	like "$(cat err)" '*cells:1:19: *not a number*'
	printf 'allow cells * max=4\nwithin\nask cells debian*\n' >cells
	exits 10 v policy check --policy cells --cell debian:12
	is "$(cat out)" 'ask: ask cells debian* (cells, line 3)'
	exits 1 v policy check --policy cells --cell alpine
	# Only a regular file of a sensible size is read.
	ln -s p link
	exits 125 viv --policy link -- true
	like "$(cat err)" '*symbolic link*'
	mkfifo fifo
	exits 125 viv --policy fifo -- true
	like "$(cat err)" '*not a regular file*'
	head -c 2000000 /dev/zero | tr '\0' '#' >large
	exits 125 viv --policy large -- true
	exits 125 viv --policy /dev/null -- true
}
check 'a policy from a file: mistakes, links, pipes, large ones' from_file

layered() {
	own_vivd
	# Each layer alone lets through more than both do.
	printf '%s\n' 'allow net good.org' 'allow net other.org:* tcp' 'allow net tcp.org:7 tcp' within \
		'allow net good.org:* tcp tls=any' 'allow net tcp.org' 'deny net other.org' 'allow net 127.0.0.1:* any' >p
	begin_cell layered --policy p || return 1
	is "$(v policy show layered)" "$(cat p)"
	is "$(get layered https://good.org/who)" 'good.org 93.184.216.34 443 HTTP/2.0'
	exits 6 get layered https://other.org/who
	exits 1 v exec layered bash -c 'exec 3<>/dev/tcp/tcp.org/7' # one allows the web, the other the port
	exits 1 v exec layered bash -c 'exec 3<>/dev/tcp/127.0.0.1/1'
	# The second does not ask for a server name, the first does.
	exits 35 get layered --connect-to good.org:443:good.org:443 https://wrong.org/who --resolve "wrong.org:443:$(v exec layered getent ahostsv4 good.org | awk '{ print $1; exit }')"
	like "$(v policy denials layered)" '*other.org*'
	# Rules that are added are of the last layer: they narrow, and widen nothing.
	v policy add layered allow net other.org && v policy add layered allow net third.org || return 1
	is "$(get layered https://other.org/who)" 'other.org 93.184.216.35 443 HTTP/2.0'
	exits 6 get layered https://third.org/who
	v policy add layered deny net good.org || return 1
	exits 6 get layered https://good.org/who
	# A layer without rules about the network has none.
	v policy add layered within || return 1
	exits 6 get layered https://other.org/who
	v policy add layered use parent || return 1
	is "$(get layered https://other.org/who)" 'other.org 93.184.216.35 443 HTTP/2.0'
	printf 'within\n%.0s' {1..8} >many
	exits 2 v policy set layered many
	like "$(cat err)" '*more than 8 layers*'
}
check 'what is allowed must be allowed by every layer' layered

live() {
	own_vivd
	begin_cell live --allow good.org || return 1
	is "$(get live https://good.org/who)" 'good.org 93.184.216.34 443 HTTP/2.0'
	exits 6 get live https://other.org/who
	v policy add live allow net other.org || return 1
	is "$(get live https://other.org/who)" 'other.org 93.184.216.35 443 HTTP/2.0'
	is "$(v policy show live)" $'allow net good.org\nallow net other.org'
	# All of it at once.
	printf '# only this\nallow net other.org\nallow net tcp.org:7 tcp\n' | v policy set live - || return 1
	exits 6 get live https://good.org/who
	is "$(get live https://other.org/who)" 'other.org 93.184.216.35 443 HTTP/2.0'
	# What is wrong changes nothing.
	exits 2 v policy add live allow net 'a b'
	is "$(status_of /v1/cells/live/policy -X PUT -d '{"rules":["allow net x.org","allow nett y"]}')" 400
	like "$(api /v1/cells/live/policy -X PUT -d '{"rules":["allow net x.org","allow nett y"]}')" '*policy:2:7*'
	is "$(status_of /v1/cells/live/policy -X PUT -d '{"rules":["allow net x.org\nallow net y.org"]}')" 400
	is "$(status_of /v1/cells/live/policy -X PUT -d '{"rules":[1]}')" 400
	is "$(status_of /v1/cells/live/policy -X PUT -d '{}')" 400
	is "$(v policy show live)" $'allow net other.org\nallow net tcp.org:7 tcp'
	# A wider rule takes the place of what it covers.
	v policy add live 'allow net *.org' 'deny net good.org' || return 1
	is "$(v policy show live)" $'allow net tcp.org:7 tcp\nallow net *.org\ndeny net good.org'
	like "$(v events --no-follow --since 0)" '*policy.changed*'
	# Kept: over a new vivd, and a new start of the cell.
	v daemon restart >/dev/null || return 1
	is "$(v policy show live)" $'allow net tcp.org:7 tcp\nallow net *.org\ndeny net good.org'
	is "$(get live https://other.org/who)" 'other.org 93.184.216.35 443 HTTP/2.0'
	v stop -t 1s live >/dev/null && v policy add live allow net good.org && v start live >/dev/null || return 1
	is "$(get live https://good.org/who)" 'good.org 93.184.216.34 443 HTTP/2.0'
}
check 'a policy is changed while the cell runs, and kept @r' live

ended() {
	own_vivd
	begin_cell ended --allow 'tcp.org:7 tcp' --allow good.org || return 1
	v exec -d ended bash -c 'exec 3<>/dev/tcp/tcp.org/7; echo one >&3; head -n 1 <&3 >/one; touch /open; cat <&3; echo "$?" >/two' >/dev/null
	soon v exec ended test -e /open || return 1
	is "$(v exec ended cat /one)" one
	# A change that leaves it alone.
	v policy add ended allow net other.org && pause_for 0.3
	exits 1 v exec ended test -e /two
	# One that does not.
	v policy add ended deny net tcp.org || return 1
	soon v exec ended test -e /two || return 1
	is "$(v exec ended cat /two)" 1 # cat: connection reset
	exits 1 v exec ended bash -c 'exec 3<>/dev/tcp/tcp.org/7'
	like "$(v policy denials ended)" '*policy has changed*'
}
check 'connections that a new policy denies are ended' ended

without() {
	own_vivd
	begin_cell without || return 1
	# Without a network nobody waits for names.
	exits 6 get without https://good.org/who
	is "$(v exec without sh -c 'ls /sys/class/net')" lo
	v policy add without allow net good.org || return 1
	is "$(get without https://good.org/who)" 'good.org 93.184.216.34 443 HTTP/2.0'
	is "$(v exec without sh -c 'ls /sys/class/net; cat /proc/net/route | wc -l; head -n 1 /etc/resolv.conf' | xargs)" 'eth0 lo 3 nameserver 198.19.255.1'
	exits 6 get without https://other.org/who
	# Rules about requests need files that are there from the start.
	exits 5 v policy add without allow net other.org GET
	like "$(cat err)" '*without rules about requests*start it again*'
	exits 6 get without https://other.org/who
	v stop -t 1s without >/dev/null && v policy add without allow net other.org GET && v start without >/dev/null || return 1
	is "$(v exec without curl -sS --max-time 20 https://other.org/who)" 'other.org 93.184.216.35 443 HTTP/2.0'
	# A gate that dies is followed by another.
	begin_cell closed || return 1
	v policy add closed allow net good.org || return 1
	is "$(get closed https://good.org/who)" 'good.org 93.184.216.34 443 HTTP/2.0'
	kill -9 $(descendants | awk '$2 ~ /viv-gate/ { print $1 }')
	is "$(get closed https://good.org/who)" 'good.org 93.184.216.34 443 HTTP/2.0'
}
check 'a cell without network gets one while it runs' without

denials() {
	own_vivd
	begin_cell denials --allow good.org --allow 'tcp.org:7 tcp' || return 1
	exits 6 get denials https://evil.org/
	exits 1 v exec denials bash -c 'exec 3<>/dev/tcp/tcp.org/9'
	soon grep_denials denials 'evil.org' && soon grep_denials denials 'tcp.org:9' || {
		v policy denials denials
		v events --no-follow --since 0
		return 1
	}
	like "$(v policy denials --json denials | tail -n 1)" '*"type":"cell.denied"*"name":"tcp.org"*"port":9*"program":"*bash"*'
	# A flood is counted, not told.
	v exec denials bash -c 'for i in {1..2000}; do getent hosts "x$i.evil.org"; done; true' >/dev/null 2>&1
	[[ $(v policy denials denials | grep -c 'evil.org') -lt 200 ]] || { echo 'too many denials are told'; return 1; }
	v exec denials sleep 2
	exits 6 get denials https://last.org/
	soon grep_denials denials 'last.org' || return 1
	like "$(v policy denials --json denials)" '*"suppressed":*'
}
by_program() {
	own_vivd
	begin_cell program --allow 'tcp.org:13 tcp program=/usr/bin/python3*' || return 1
	exits 1 v exec program bash -c 'exec 3<>/dev/tcp/tcp.org/13'
	is "$(v exec program python3 -c 'import socket; print(socket.create_connection(("tcp.org", 13)).recv(6).decode())')" 'a line'
}
check 'rules for programs' by_program
grep_denials() { v policy denials "$1" | grep "$2" >/dev/null; }
check 'denials are events, and a flood of them is counted' denials

datagram='import socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.settimeout(10)
s.connect(("tcp.org", 7))
s.send(b"ping")
print(s.recv(9).decode())'
learnt() {
	own_vivd
	local p
	begin_cell audit --network audit || return 1
	get audit https://good.org/who >/dev/null && get audit https://good.org/ >/dev/null || return 1
	get audit https://other.org/who >/dev/null || return 1
	v exec audit bash -c 'exec 3<>/dev/tcp/tcp.org/13; cat <&3' >/dev/null || return 1
	v exec audit getent hosts same.org >/dev/null || return 1
	is "$(v exec audit python3 -c "$datagram")" ping
	# What is not public is not let through.
	exits 6 get audit -k https://private.org/who
	exits 7 get audit -k https://169.254.169.254/
	soon learnt_has 4
	p=$(v policy learn audit)
	is "$p" $'allow net good.org:443\nallow net other.org:443\nallow net tcp.org:13 tcp\nallow net tcp.org:7 udp\n# looked up, but never connected to: same.org'
	# With it, the same works, and nothing else.
	printf '%s\n' "$p" | v policy set audit - || return 1
	is "$(get audit https://good.org/who)" 'good.org 93.184.216.34 443 HTTP/2.0'
	is "$(get audit https://other.org/who)" 'other.org 93.184.216.35 443 HTTP/2.0'
	is "$(v exec audit bash -c 'exec 3<>/dev/tcp/tcp.org/13; cat <&3')" $'a line\r'
	is "$(v exec audit python3 -c "$datagram")" ping
	exits 7 get audit http://good.org:8080/
	exits 6 get audit https://six.org/who
	exits 1 v exec audit bash -c 'exec 3<>/dev/tcp/tcp.org/7'
	v policy learn --forget audit && is "$(v policy learn audit)" ''
	# Where a rule had to list an address, it is part of it.
	begin_cell listed --network audit --allow 10.1.0.0/16 || return 1
	get listed https://private.org/who >/dev/null || return 1
	soon learnt_listed || return 1
}
# Where rules are about requests, so is what is learnt.
learnt_requests() {
	own_vivd
	begin_cell requests --allow 'good.org GET,POST /who' --allow 'good.org GET /large*' --allow other.org:80 || return 1
	is "$(get requests --cacert /etc/ssl/certs/ca-certificates.crt https://good.org/who)" 'good.org 93.184.216.34 443 HTTP/2.0'
	is "$(get requests http://other.org/who | cut -d' ' -f 1)" other.org
	like "$(get requests --cacert /etc/ssl/certs/ca-certificates.crt https://good.org/other)" '*denied*'
	soon learnt_these || { v policy learn requests; return 1; }
	soon grep_denials requests 'good.org/other' || return 1
	# Narrower rules count for connections that are open, and for the next request.
	v policy add requests deny net good.org GET /who || return 1
	like "$(get requests --cacert /etc/ssl/certs/ca-certificates.crt https://good.org/who)" '*denied*'
	# A stream that is open ends when the rules of its host change, and only then.
	v exec -d requests bash -c 'exec 3<>/dev/tcp/other.org/80; printf "GET /who HTTP/1.1\r\nHost: other.org\r\n\r\n" >&3; touch /begun; cat <&3 >/dev/null; touch /ended' >/dev/null
	soon v exec requests test -e /begun && pause_for 0.5
	v policy add requests allow net six.org && pause_for 0.5
	exits 1 v exec requests test -e /ended
	v policy add requests deny net other.org || return 1
	soon v exec requests test -e /ended || return 1
	# A cell that was started without such rules has no CA.
	begin_cell noca --allow good.org || return 1
	exits 5 v policy add noca allow net good.org GET /x
	like "$(cat err)" '*without rules about requests*start it again*'
}
learnt_these() { [[ $(v policy learn requests) == $'allow net good.org:443 GET /who\nallow net other.org:80' ]]; }
# The same with a run in the foreground.
learnt_run() {
	own_vivd
	viv --name try --network audit --mount "$E2E_WORLD/ca.pem:/ca.pem:ro" -- curl -4 -sS --cacert /ca.pem https://good.org/who >/dev/null || return 1
	soon learnt_try || { v policy learn try; v policy show try; v events --no-follow --since 0; return 1; }
	v policy learn try >try.policy
	is "$(viv --policy try.policy --mount "$E2E_WORLD/ca.pem:/ca.pem:ro" -- curl -4 -sS --cacert /ca.pem https://good.org/who)" \
		'good.org 93.184.216.34 443 HTTP/2.0'
	exits 6 viv --policy try.policy -- curl -sS https://other.org/
}
learnt_try() { [[ $(v policy learn try) == 'allow net good.org:443' ]]; }
learnt_has() { [[ $(v policy learn audit | grep -c '^allow') == "$1" ]]; }
learnt_listed() { [[ $(v policy learn listed) == $'allow net 10.1.2.3:443\nallow net private.org:443' ]]; }
check 'viv policy learn: what a run under audit needs, and nothing else' learnt

check 'a run in the foreground is learnt from' learnt_run
check 'requests are learnt where rules are about them' learnt_requests

yaml() {
	own_vivd
	mkdir project && cd project || return 1
	printf 'cells:\n  web:\n    command: [sleep, "1000"]\n    policy:\n      - use packages\n      - allow net good.org\n' >vivarium.yaml
	v up >/dev/null || return 1
	is "$(v policy show web)" $'use packages\nallow net good.org'
	sed -i 's/good.org/other.org/' vivarium.yaml
	v apply >/dev/null || return 1
	is "$(v policy show web)" $'use packages\nallow net other.org'
	sed -i 's/allow net other.org/allow nett other.org/' vivarium.yaml
	exits 2 v up
	like "$(cat err)" '*vivarium.yaml:6:9: *'
	sed -i 's/allow nett other.org/deny net "*"/; s/use packages/allow net good.org/' vivarium.yaml
	sed -i "s/- deny net .*/- 'deny net *'/" vivarium.yaml
	exits 2 v up
	like "$(cat err)" '*vivarium.yaml:5:9: *can never decide*'
}
check 'policies in vivarium.yaml' yaml
world_end
