# What a cell sees of its network: names, interfaces, routes, refusals. shellcheck shell=bash
# world
# shellcheck source=tests/e2e/world.sh
. "$E2E_DIR/world.sh"
world_name_server --address=/wild.org/93.184.216.34 --host-record=host.corp.example,93.184.216.35 \
	--dns-rr=good.org,65,000100000100060268320268330004000401020304000500020102 --txt-record=good.org,text --mx-host=good.org,mail.good.org,10 --srv-host=_x._tcp.good.org,good.org,443 \
	--host-record=four.org,93.184.216.36 --local=/gone.org/ \
	--host-record=far.org,93.184.216.35,2606:2800:220:2::1
world_web

# A shell in a cell that reaches good.org and what is given before --.
cell() {
	local given=()
	while [[ $1 != -- ]]; do given+=("$1") && shift; done
	shift
	viv --allow good.org --mount "$E2E_DIR:/e2e:ro" --mount "$P:/p:ro" --mount "$E2E_WORLD/ca.pem:/ca.pem:ro" "${given[@]}" -- bash -c "$1"
}
answer() { grep -o -e 'status: [A-Z]*' -e 'EDE: [0-9]*' "$@" | xargs; }

by_dig() {
	is "$(cell -- 'for how in +notcp +tcp; do dig +short $how good.org; dig +short $how good.org AAAA; done')" \
		$'93.184.216.34\n2606:2800:220:1::34\n93.184.216.34\n2606:2800:220:1::34'
	is "$(cell --allow four.org -- 'dig four.org AAAA' | answer)" 'status: NOERROR' 'no address of this family'
	is "$(cell --allow gone.org -- 'dig gone.org' | answer)" 'status: NXDOMAIN' 'no such name'
	cell --deny www.good.org -- 'dig other.org; dig www.good.org; dig +tcp other.org' >out
	is "$(answer out)" 'status: REFUSED EDE: 18 status: REFUSED EDE: 15 status: REFUSED EDE: 18'
	like "$(cat out)" "*no rule allows the name other.org*the rule 'deny net www.good.org' denies the name*"
	# An alias is answered with the name that was asked for.
	is "$(cell --allow alias.org -- 'dig +noall +answer alias.org' | awk '{ print $1, $4, $5 }')" 'alias.org. A 93.184.216.34'
	# What an address stands for, without asking anybody.
	is "$(cell -- 'dig +short good.org A good.org AAAA >/dev/null; dig +short -x 93.184.216.34; dig +short -x 2606:2800:220:1::34; dig -x 93.184.216.35' |
		grep -e '^good' -e status | sed 's/.*status: \([A-Z]*\).*/\1/' | xargs)" 'good.org. good.org. NXDOMAIN'
	is "$(cell -- 'dig +short good.org HTTPS')" '1 . alpn="h2"' 'no keys, no addresses, no h3'
	is "$(cell -- 'dig good.org TXT; dig good.org ANY' | answer)" 'status: NOERROR EDE: 17 status: NOERROR EDE: 17'
	is "$(viv --allow 'good.org dns=MX,TXT' --allow 'good.org:443 tcp' --allow '_x._tcp.good.org dns=SRV' -- bash -c \
		'dig +short MX good.org; dig +short +tcp TXT good.org; dig +short SRV _x._tcp.good.org; dig NS good.org' | sed 's/.*status: \([A-Z]*\),.*/\1/; /^;/d; /^$/d' | xargs)" \
		'10 mail.good.org. text 0 0 443 good.org. NOERROR'
	exits 125 viv --allow 'good.org dns=X' -- true
	fails world_asked other.org
}
check 'answers of the resolver, by UDP and TCP @r' by_dig

clients() {
	is "$(cell --allow six.org --allow four.org -- 'for n in good four six other; do getent ahosts $n.org | awk "/STREAM/ { print \$1 }" | sort | xargs; done')" \
		$'2606:2800:220:1::34 93.184.216.34\n93.184.216.36\n2606:2800:220:1::36' glibc
	is "$(cell --allow four.org -- '/p/musl_resolve good.org four.org')" "good.org 4: 93.184.216.34 (good.org)
good.org 6: 2606:2800:220:1::34 (good.org)
four.org 4: 93.184.216.36 (four.org)
four.org 6: Name does not resolve" musl
	is "$(cell -- "node -e 'const d = require(\"dns\").promises; (async () => {
		console.log(await d.resolve4(\"good.org\"), await d.resolve6(\"good.org\"));
		console.log((await d.lookup(\"good.org\", { all: true })).map(a => a.address).sort().join());
		console.log(await d.reverse(\"93.184.216.34\"));
		for (const f of [\"resolve4\", \"lookup\"]) await d[f](\"other.org\").catch(e => console.log(e.code)); })()'" | tr -d '\n')" \
		"[ '93.184.216.34' ] [ '2606:2800:220:1::34' ]2606:2800:220:1::34,93.184.216.34[ 'good.org' ]EREFUSEDEAI_AGAIN" node
	is "$(cell -- "python3 -c 'import socket; print(sorted({a[4][0] for a in socket.getaddrinfo(\"good.org\", 443)}), socket.gethostbyaddr(\"93.184.216.34\")[0])'")" \
		"['2606:2800:220:1::34', '93.184.216.34'] good.org" python
	like "$(cell -- 'busybox nslookup good.org')" '*Address*93.184.216.34*' busybox
}
check 'resolvers of glibc, musl, Node, Python and busybox @r' clients

# The world has no way to far.org's address of IPv6, as a host without IPv6 has none.
unreachable() {
	# A connection that nobody answers would take two minutes to fail: 28.
	is "$(cell --allow far.org -- 'curl -sS --cacert /ca.pem -k https://far.org/who')" 'far.org 93.184.216.35 443 HTTP/2.0'
	exits 7 cell --allow far.org -- 'curl -6 -sS --max-time 60 --cacert /ca.pem https://far.org/who'
	is "$(cell --allow far.org -- "timeout 60 node -e 'require(\"https\").get({ host: \"far.org\", path: \"/who\", rejectUnauthorized: false }, r => r.pipe(process.stdout))'")" \
		'far.org 93.184.216.35 443 HTTP/1.1'
}
check 'an address of IPv6 that cannot be reached fails at once @r' unreachable

given() {
	is "$(cell -- 'cat /etc/resolv.conf; getent hosts "$(hostname)"')" $'nameserver 198.19.255.1\n198.19.255.2    cell'
	# In /etc/hosts and from the resolver; rules decide about the address, or about the name.
	is "$(cell --add-host db.internal:10.1.2.3 --allow 10.1.2.3:80 -- 'curl -sS http://db.internal/who; dig +short db.internal')" \
		$'db.internal 10.1.2.3 80 HTTP/1.1\n10.1.2.3'
	is "$(cell --add-host new.org:93.184.216.34 --allow 'new.org tls=any' -- 'getent hosts good.org >/dev/null; curl -sSk https://new.org/who')" \
		'new.org 93.184.216.34 443 HTTP/2.0'
	exits 7 cell --add-host db.internal:10.1.2.3 -- 'curl -sS http://db.internal/'
	exits 7 cell --add-host db.internal:10.1.2.3 --allow db.internal -- 'curl -sS http://db.internal/'
	# Without a network it is a line in a file.
	is "$(viv --add-host 'Db=[fd00::5]' --add-host a:1.2.3.4 --add-host b:1.2.3.4 -- tail -n 3 /etc/hosts)" $'fd00::5\tdb\n1.2.3.4\ta\n1.2.3.4\tb'
	is "$(cell --dns-search corp.example --dns-search good.org --allow host.corp.example --allow www.good.org -- 'tail -n 1 /etc/resolv.conf
		getent hosts host | xargs; getent hosts www | xargs')" $'search corp.example good.org\n93.184.216.35 host.corp.example\n93.184.216.34 www.good.org'
	# A server that answers, one that does not, none in the file.
	is "$(cell --dns 93.184.216.53 -- 'dig +short good.org')" 93.184.216.34
	like "$(cell --dns 93.184.216.99 -- 'dig +tries=1 +timeout=15 good.org')" '*SERVFAIL*EDE: 22*good.org*'
	exits 125 viv --dns one --allow good.org -- true
	exits 125 viv --add-host db --allow good.org -- true
	exits 125 viv --dns 1.2.3.4 -- true
}
check '--add-host, --dns and --dns-search @r' given

no_server() {
	echo '# nothing' >resolv.conf
	# shellcheck disable=SC2016
	unshare -m bash -c 'mount --bind "$1" /etc/resolv.conf && "$2" run --allow good.org -- dig +tries=1 +timeout=10 good.org' . "$PWD/resolv.conf" "$VIV" >out
	is "$(answer out)" 'status: SERVFAIL EDE: 22'
}
check 'a host without a server in its resolv.conf @root' no_server

images() {
	local kind
	own_vivd
	mkdir tree
	cp "$P/musl_resolve" tree/prog
	for kind in none absent file empty link; do
		rm -rf tree/etc
		[[ $kind == none ]] || mkdir tree/etc
		case $kind in
		file) echo 'nameserver 9.9.9.9' >tree/etc/resolv.conf ;;
		empty) : >tree/etc/resolv.conf ;;
		link) ln -s ../run/systemd/resolve/stub-resolv.conf tree/etc/resolv.conf ;;
		esac
		"$VIV" image import -q -t "$kind" tree >/dev/null
		is "$(viv --image "$kind" --allow good.org -- /prog good.org | head -n 1)" 'good.org 4: 93.184.216.34 (good.org)' "$kind"
	done
	# Where /run is a file, there is no list of refusals, but a cell.
	touch tree/run
	"$VIV" image import -q -t file tree >/dev/null
	is "$(viv --image file --allow good.org -- /prog good.org | head -n 1)" 'good.org 4: 93.184.216.34 (good.org)' 'a file at /run'
	# What a guest makes of it is kept.
	viv --name c --allow good.org -- sh -c 'echo nameserver 1.1.1.1 >/etc/resolv.conf'
	is "$(viv --name c --allow good.org -- cat /etc/resolv.conf)" 'nameserver 1.1.1.1'
	"$VIV" rm -f c >/dev/null
}
check 'every image has the resolver @r' images

interfaces() {
	is "$(cell -- 'ip -br addr; ip route; ip -6 route; ip route get 93.184.216.34 | head -n 1' | awk '{ $1 = $1; print }')" \
		"lo UNKNOWN 127.0.0.1/8 ::1/128
eth0 UP 198.19.255.2/24 fd7a:7669:7600:1::2/64
198.19.255.0/24 dev eth0 proto kernel scope link src 198.19.255.2
default via 198.19.255.1 dev eth0
fd7a:7669:7600:1::/64 dev eth0 proto kernel metric 256
default via fd7a:7669:7600:1::1 dev eth0 metric 1024
93.184.216.34 via 198.19.255.1 dev eth0 proto kernel src 198.19.255.2"
	is "$(cell -- 'hostname -I | xargs; ls /sys/class/net | xargs; cat /sys/class/net/eth0/address; ifconfig eth0 | grep -c -e 198.19.255.255 -e 02:76:69:76:00:02
		awk "{ print \$1, \$2, \$3 }" /proc/net/route | tail -n +2; awk "{ print \$1, \$6 }" /proc/net/if_inet6')" \
		"198.19.255.2 fd7a:7669:7600:1::2
eth0 lo
02:76:69:76:00:02
2
eth0 00FF13C6 00000000
eth0 00000000 01FF13C6
00000000000000000000000000000001 lo
fd7a7669760000010000000000000002 eth0"
	is "$(cell -- "node -p 'Object.values(os.networkInterfaces()).flat().map(a => a.cidr).join()'")" \
		'127.0.0.1/8,::1/128,198.19.255.2/24,fd7a:7669:7600:1::2/64'
	is "$(cell -- "python3 -c '
import socket
print(socket.if_nameindex())
for family, own, all in (socket.AF_INET, \"198.19.255.2\", \"0.0.0.0\"), (socket.AF_INET6, \"fd7a:7669:7600:1::2\", \"::\"):
    for at in own, all:
        l = socket.socket(family)
        l.bind((at, 0))
        l.listen()
        c = socket.socket(family)
        c.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, b\"eth0\")
        c.connect((own, l.getsockname()[1]))
        print(c.getsockname()[0], l.accept()[1][0])
u = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
u.connect((\"93.184.216.34\", 9))
print(u.getsockname()[0])
try:
    u.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, b\"eth1\")
except OSError as e:
    print(e.strerror)
'")" "[(1, 'lo'), (2, 'eth0')]
198.19.255.2 198.19.255.2
198.19.255.2 198.19.255.2
fd7a:7669:7600:1::2 fd7a:7669:7600:1::2
fd7a:7669:7600:1::2 fd7a:7669:7600:1::2
198.19.255.2
No such device"
	# Without a network, lo alone.
	is "$(viv -- sh -c 'ip -br addr | awk "{ print \$1 }"; ip route; ls /sys/class/net; tail -n +2 /proc/net/route; cat /proc/net/ipv6_route; ls /run/viv 2>&1')" \
		$'lo\nlo\nls: cannot access \'/run/viv\': No such file or directory'
}
check 'eth0, addresses and routes, only with a network @r' interfaces

denials() {
	cell --deny www.good.org -- 'curl -sS https://other.org/; curl -sS https://www.good.org/; curl -sS https://1.2.3.4/; curl -sS -k https://good.org:444/
		curl -sSk --connect-to other.org:443:good.org:443 https://other.org/; git ls-remote https://other.org/x; cat /run/viv/denials
		echo x >/run/viv/denials; rm -f /run/viv/denials; mv /run/viv/denials /tmp; ls /run/viv' >out 2>err
	like "$(cat out)" "20*Z no rule allows the name other.org; such a rule is 'allow net other.org'*
20*Z the rule 'deny net www.good.org' denies the name www.good.org*
20*Z no rule allows 1.2.3.4:443; *
20*Z no rule allows good.org:444; *
20*Z TLS for other.org on a connection to good.org*
*no rule allows the name other.org*
denials"
	is "$(grep -c 'Read-only file system' err)" 3
	# The last hundred, and nothing that could be mistaken for another line.
	is "$(cell -- 'for ((i = 0; i < 130; i++)); do dig +tries=1 x$i.other.org >/dev/null; sleep 0.02; done; wc -l </run/viv/denials; tail -n 1 /run/viv/denials' |
		sed 's/20[^ ]*Z //')" "100
no rule allows the name x129.other.org; such a rule is 'allow net x129.other.org'"
}
check 'refusals can be read in the cell @r' denials

tunnel() {
	local long
	long=$(printf 'a%.0s' {1..60})
	is "$(cell --allow '*.wild.org' -- "dig $long.wild.org; dig $long.$long.$long.wild.org" | answer)" 'status: NOERROR status: REFUSED EDE: 15'
	fails world_asked "$long.$long.$long.wild.org"
	is "$(cell --allow '*.wild.org' -- 'python3 /e2e/dnsflood.py names 20000 wild.org; (($(grep -c "too many new names" /run/viv/denials) > 50)) && getent hosts good.org | wc -l')" \
		$'refused more than half: True answered some: True\n1'
	# Names that no rule allows are nobody's business.
	like "$(cell -- 'python3 /e2e/dnsflood.py names 3000 other.org')" '*more than half: True*'
	fails grep -q ' n1.other.org from ' "$scratch/world.dns"
}
check 'names are no tunnel: long ones and many @r' tunnel

hostile() {
	is "$(cell -- 'python3 /e2e/dnsflood.py garbage')" 'still there: 0 0'
	is "$(cell --ulimit nofile=4096 -- 'python3 /e2e/dnsflood.py streams 2500')" 'still there: 0 0'
	is "$(cell -- 'python3 /e2e/dnsflood.py pipeline')" "300 True b''"
}
check 'garbage, held connections and pipelined questions @r' hostile

world_end
