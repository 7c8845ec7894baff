# Exec over WebSockets. shellcheck shell=bash

in_python() { # case, arguments...
	python3 "$E2E_DIR/websockets.py" "$1" "$sock" w "${@:2}"
}
with_cell() { # case
	own_vivd
	v daemon start
	make_cell '{"name":"w","start":true}' >/dev/null
	pid=$(pid_of)
	in_python "$1"
	is "$(pid_of)" "$pid" 'the same process'
}
check 'output, input, signals, fragments @r' with_cell basic
check 'handshakes that are refused' with_cell handshake
check 'what is against the protocol, and its codes' with_cell violations
check 'a terminal, both ways @r' with_cell terminal
check 'a client that goes away hangs up @r' with_cell hangup
check 'back-pressure both ways' with_cell pressure
check 'who answers no ping is gone' with_cell pings

tokens() {
	own_vivd
	openssl req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out cert.pem -days 2 -subj /CN=localhost -addext subjectAltName=IP:127.0.0.1 2>/dev/null
	for tls in '' "$PWD/cert.pem"; do
		port=$(free_port)
		v daemon start --listen "127.0.0.1:$port" ${tls:+--tls-cert "$tls" --tls-key "$PWD/key.pem"}
		make_cell '{"name":"w","get":true,"start":true}' >/dev/null
		make_cell '{"name":"o","get":true}' >/dev/null
		in_python network "$port" "$tls" "$(v token create)" "$(v token create --scope read)" "$(v token create --scope cell --cell w)" \
			"$(v token create --scope cell --cell o)"
		for id in $(cell_ids); do api "/v1/cells/$id?force=1" -X DELETE; done
		v daemon stop
	done
}
check 'TCP and TLS: tokens in the header and as a subprotocol, origins' tokens

stops() {
	own_vivd
	v daemon start
	make_cell '{"name":"w","start":true}' >/dev/null
	in_python stopping >o &
	client=$!
	soon grep -q ready o
	v daemon stop
	wait "$client"
	v daemon start
	soon run_in w test -e /tmp/x
}
check 'vivd that ends says so, and hangs up' stops

malformed() {
	own_vivd
	v daemon start
	make_cell '{"name":"w","start":true}' >/dev/null
	pid=$(pid_of)
	python3 "$E2E_DIR/badframes.py" "$sock" w "${BAD_FRAMES:-300}" "${BAD_SEED:-1}"
	is "$(pid_of)" "$pid" 'the same process'
}
check 'malformed handshakes and frames' malformed
