# Connections that wait for an answer. shellcheck shell=bash
# world
# shellcheck source=tests/e2e/world.sh
. "$E2E_DIR/world.sh"
world_name_server
world_web
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
	viv --quiet --mount "$E2E_WORLD/ca.pem:/ca.pem:ro" "${given[@]}" -- curl -sS --max-time 50 --cacert /ca.pem "$@" >"$to" 2>&1 &
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
	! world_asked good.org
	"$VIV" approvals allow "$id"
	wait "$cell"
	like "$(cat out1)" 'good.org * 443 HTTP/2.0'
	world_asked good.org
	fetch out2 --ask other.org -- https://other.org/who
	soon open_is 1
	"$VIV" approvals deny "$(newest)"
	wait "$cell" && return 1
	! world_asked other.org
	# Plain HTTP and other protocols.
	fetch out3 --ask good.org -- http://good.org/who
	soon open_is 1
	is "$(member "$(newest)" port)" 80
	"$VIV" approvals allow "$(newest)"
	wait "$cell"
	like "$(cat out3)" 'good.org * 80 HTTP/1.1'
	fetch out4 --ask 'tcp.org:7 tcp' -- telnet://tcp.org:7 --max-time 20
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
	rm -f out1
	viv --quiet --mount "$E2E_WORLD/ca.pem:/ca.pem:ro" --ask good.org -- sh -c \
		'for i in 1 2 3 4 5 6; do curl -sS --max-time 2 --cacert /ca.pem https://good.org/who && exit 0; done; exit 1' >out1 2>/dev/null &
	cell=$!
	soon open_is 1
	id=$(newest)
	sleep 3
	is "$(newest)" "$id"
	kill -9 "$("$VIV" daemon status --json | sed 's/.*"pid":\([0-9]*\).*/\1/')"
	soon open_is 1
	is "$(newest)" "$id"
	"$VIV" approvals allow "$id"
	wait "$cell"
	like "$(cat out1)" 'good.org * 443 HTTP/2.0'
	# Several clients at once.
	viv --quiet --mount "$E2E_WORLD/ca.pem:/ca.pem:ro" --ask good.org -- sh -c \
		'for i in 1 2 3 4 5; do curl -sS --max-time 50 --cacert /ca.pem https://good.org/who & done; wait' >out2 2>&1 &
	cell=$!
	soon open_is 1
	sleep 1
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
	"$VIV" exec asked curl -sS --max-time 50 --cacert /ca.pem https://good.org/who >out1 2>&1 &
	soon open_is 1
	"$VIV" approvals allow --always "$(newest)"
	wait $!
	like "$(cat out1)" 'good.org * 443 HTTP/2.0'
	like "$("$VIV" exec asked curl -sS --max-time 20 --cacert /ca.pem https://good.org/who)" 'good.org * 443 HTTP/2.0'
	is "$("$VIV" policy show asked | tail -n 1)" 'allow net good.org:443'
	soon open_is 0
}
check 'an answer about a connection can become a rule' always
world_end
