# The client for TypeScript and JavaScript, with Node's own test runner. shellcheck shell=bash

client_tests() {
	own_vivd
	port=$(free_port)
	v daemon start --listen "127.0.0.1:$port"
	VIVARIUM_TEST_URL=http://127.0.0.1:$port VIVARIUM_TEST_TOKEN=$(v token create) timeout -k 5 120 \
		node --test --test-reporter=tap "$E2E_DIR/../clients/ts/test/client.test.js" >o || { grep -v '^ok\|^ *#' o; return 1; }
	is "$(sed -n 's/^# \(pass\|fail\|skipped\) //p' o | tr '\n' ' ')" '17 0 0 ' 'tests that passed, failed, were skipped'
}
check 'the client against a real vivd @r' client_tests
