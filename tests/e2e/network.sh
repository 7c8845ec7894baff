# Programs in cells reach what they are granted, and nothing else. shellcheck shell=bash
# world
# shellcheck source=tests/e2e/world.sh
. "$E2E_DIR/world.sh"
world_name_server
world_web
world_plain

# curl in a cell that trusts the world's CA; options of viv first, then --, then those of curl. Over IPv4, unless IP is set: which
# family of a name with both is faster may differ.
fetch() {
	local given=()
	while [[ $1 != -- ]]; do given+=("$1") && shift; done
	shift
	viv --mount "$E2E_WORLD/ca.pem:/ca.pem:ro" "${given[@]}" -- curl -sS --max-time 120 ${IP--4} --cacert /ca.pem "$@"
}

by_name() {
	is "$(fetch --allow good.org -- https://good.org/who)" 'good.org 93.184.216.34 443 HTTP/2.0'
	is "$(fetch --allow '*.good.org' -- https://www.good.org/who)" 'www.good.org 93.184.216.34 443 HTTP/2.0'
	is "$(IP= fetch --allow six.org -- https://six.org/who)" 'six.org 2606:2800:220:1::36 443 HTTP/2.0'
	is "$(fetch --allow alias.org -- https://alias.org/who)" 'alias.org 93.184.216.34 443 HTTP/2.0'
	is "$(fetch --allow '93.184.216.35:80 tcp' -- http://93.184.216.35/who)" '93.184.216.35 93.184.216.35 80 HTTP/1.1'
	is "$(fetch --network open -- https://other.org/who)" 'other.org 93.184.216.35 443 HTTP/2.0'
	# Two names with one address: what is meant is known.
	is "$(fetch --allow good.org --allow same.org -- https://good.org/who https://same.org/who)" \
		$'good.org 93.184.216.34 443 HTTP/2.0\nsame.org 93.184.216.34 443 HTTP/2.0'
}
check 'a granted name is reached @r' by_name

no_network() {
	exits 6 fetch -- https://good.org/
	exits 7 fetch -- https://93.184.216.34/
	is "$(viv -- ip -br addr 2>&1 | awk '{ print $1 }' | xargs)" lo
}
check 'a cell without rules has no network @r' no_network

others() {
	exits 6 fetch --allow good.org -- https://other.org/
	exits 6 fetch --allow good.org -- https://www.good.org/
	exits 7 fetch --allow good.org -- https://good.org:8443/
	exits 7 fetch --allow good.org -- -k https://93.184.216.35/
	exits 6 fetch --network open --deny good.org -- https://good.org/
	# Nobody outside has heard of a name that is not granted.
	fails world_asked never-allowed.org
	exits 6 fetch --allow good.org -- https://never-allowed.org/
	fails world_asked never-allowed.org
	world_asked good.org
}
check 'nothing else is reached @r' others

special() {
	local name rule
	for name in private.org loop.org loop6.org mapped.org metadata.org metadata6.org any.org badalias.org; do
		IP='' try fetch --allow "$name" -- -k "https://$name/who"
		[[ $rc != 0 ]] || { echo "$name is reached"; return 1; }
		[[ ! -s out ]] || { echo "$name answers"; return 1; }
	done
	# What is not public is never tried, also when there is a public address beside it.
	is "$(fetch --allow mixed.org -- https://mixed.org/who)" 'mixed.org 93.184.216.34 443 HTTP/2.0'
	# The operator may list it.
	is "$(fetch --allow private.org --allow 10.1.0.0/16 -- https://private.org/who)" 'private.org 10.1.2.3 443 HTTP/2.0'
	# A wide range is not such a list.
	for rule in '0.0.0.0/0:* any' '*:* any' '[::/0]:* any'; do
		exits 7 fetch --allow "$rule" -- -k https://10.1.2.3/
	done
}
check 'loopback, private and metadata addresses are refused behind names @r' special

server_name() {
	# curl speaks to good.org's address, for another name.
	exits 35 fetch --allow good.org --allow other.org -- --connect-to other.org:443:good.org:443 https://other.org/
	exits 35 fetch --allow good.org -- -k --connect-to ::good.org:443 https://93.184.216.34/ # no server name
	is "$(fetch --allow 'good.org tls=any' -- -k --connect-to other.org:443:good.org:443 https://other.org/who)" \
		'other.org 93.184.216.34 443 HTTP/2.0'
}
check 'TLS for another name is refused' server_name

plain() {
	is "$(viv --allow 'tcp.org:7,13 tcp' -- bash -c 'exec 3<>/dev/tcp/tcp.org/13; cat <&3')" $'a line\r'
	is "$(viv --allow 'six.org:7 tcp' -- bash -c 'exec 3<>/dev/tcp/six.org/7; echo over six >&3; head -n 1 <&3')" 'over six'
	exits 1 viv --allow 'tcp.org:13 tcp' -- bash -c 'exec 3<>/dev/tcp/tcp.org/7'
	like "$(cat err)" '*Permission denied*'
	exits 1 viv --allow 'closed.org:13 tcp' -- bash -c 'exec 3<>/dev/tcp/closed.org/13'
	like "$(cat err)" '*Connection refused*'
}
check 'other protocols, where the rule says tcp @r' plain

bytes() {
	dd if=/dev/urandom of="$scratch/www/large" bs=1M count=64 status=none
	is "$(fetch --allow good.org -- https://good.org/large | sha256sum)" "$(sha256sum <"$scratch/www/large")" 'a large file'
	is "$(viv --allow 'tcp.org:7 tcp' -- python3 -c '
import hashlib, os, socket, threading
s = socket.create_connection(("tcp.org", 7))
data = os.urandom(1 << 20) * 16
t = threading.Thread(target=lambda: (s.sendall(data), s.shutdown(socket.SHUT_WR)))
t.start()
got = b"".join(iter(lambda: s.recv(1 << 16), b""))
print(got == data)')" True 'echo of 16 MiB'
}
check 'large transfers both ways @r' bytes

many() {
	is "$(viv --ulimit nofile=4096 --allow 'tcp.org:7 tcp' -- python3 -c '
import asyncio
async def one(i):
    r, w = await asyncio.open_connection("tcp.org", 7)
    w.write(b"%d\n" % i)
    global there
    got = await r.readline()
    there += 1
    if there == 1000: everybody.set()
    await everybody.wait()
    w.close()
    return got == b"%d\n" % i
async def main():
    global everybody, there
    everybody, there = asyncio.Event(), 0
    print(sum(await asyncio.gather(*(one(i) for i in range(1000)))))
asyncio.run(main())')" 1000
}
check 'a thousand connections at once' many

gate_dies() {
	local gate pid
	own_vivd
	v create --name c --allow good.org --mount "$E2E_WORLD/ca.pem:/ca.pem:ro" -- sleep 1000
	v start c
	is "$(v exec c -- curl -sS --cacert /ca.pem https://good.org/)" hello
	gate=$(descendants | awk '$2 ~ /viv-gate/ { print $1 }')
	kill -9 "$gate"
	soon test ! -e "/proc/$gate"
	is "$(v exec c -- curl -sS --cacert /ca.pem https://good.org/)" hello 'with another gate'
	# The network does not depend on vivd.
	pid=$(pid_of)
	kill -9 "$pid"
	soon gone "$pid"
	is "$(v exec c -- curl -sS --cacert /ca.pem https://good.org/)" hello 'after vivd died'
	v rm -f c
}
check 'a gate that dies is replaced, and cells outlive vivd with their network @r' gate_dies

world_end
