# Sockets that lead out of a cell behave as Linux's do. shellcheck shell=bash
# world
# shellcheck source=tests/e2e/world.sh
. "$E2E_DIR/world.sh"
world_name_server
world_web
world_plain
world_run outside python3 "$E2E_DIR/outside.py"
world_wait 93.184.216.36 4000

# A program against the same server, from the host and from a cell.
compared() { # program, address, rule...
	local program=$1 address=$2 rules=()
	shift 2
	for r; do rules+=(--allow "$r"); done
	timeout 100 "$P/$program" "$address" all 1000000 >host 2>&1 &
	LIMIT=200 viv "${rules[@]}" --mount "$P/$program:/program:ro" -- /program "$address" all 2000000 >cell 2>&1
	wait $!
	diff -U 3 host cell
	[[ $(wc -l <host) -gt 20 ]]
}
check 'TCP over IPv4 is as on the host @r' compared outside_tcp 93.184.216.36 '93.184.216.36:* tcp' '93.184.200.1:80 tcp'
check 'TCP over IPv6 is as on the host' compared outside_tcp 2606:2800:220:1::36 '[2606:2800:220:1::36]:* tcp' '93.184.200.1:80 tcp'

check 'UDP over IPv4 is as on the host @r' compared outside_udp 93.184.216.36 '93.184.216.36:* udp'
check 'UDP over IPv6 is as on the host' compared outside_udp 2606:2800:220:1::36 '[2606:2800:220:1::36]:* udp'

# Python in a cell, with what most tests here need.
py() { # viv's options..., --, then the program on the standard input
	local given=()
	while [[ $1 != -- ]]; do given+=("$1") && shift; done
	{
		cat <<-'END'
			import errno, os, resource, select, socket, struct, sys, time
			def tried(f, *a):
			    try:
			        return f(*a)
			    except OSError as e:
			        return errno.errorcode.get(e.errno, str(e))
			def to(port, host="tcp.org"):
			    s = socket.create_connection((host, port))
			    s.settimeout(100)
			    return s
			def polled(s, wanted=0):
			    p = select.poll()
			    if wanted:
			        p.register(s, wanted)
			        p.poll(100000)
			    p.register(s, select.POLLIN | select.POLLOUT | select.POLLRDHUP)
			    got = p.poll(0)
			    names = ("IN", "OUT", "ERR", "HUP", "RDHUP")
			    return " ".join(n for n in names if got and got[0][1] & getattr(select, "POLL" + n))
		END
		cat
	} >program.py
	viv "${given[@]}" --mount "$PWD/program.py:/program.py:ro" -- python3 /program.py
}

denied() {
	is "$(py --allow 'tcp.org:7 tcp' -- <<-'END'
		s = socket.socket()
		print(tried(s.connect, (socket.gethostbyname("tcp.org"), 9)), tried(s.connect, ("93.184.216.34", 443)))
		s.setblocking(False)
		print(tried(s.connect, (socket.gethostbyname("tcp.org"), 9)), polled(s, select.POLLOUT))
		print(errno.errorcode[s.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)])
		s = to(7)
		s.settimeout(None)
		print(tried(s.send, b"x", socket.MSG_OOB), tried(s.recv, 1, socket.MSG_OOB), s.send(b"y"), s.recv(1))
	END
	)" $'EACCES EACCES\nEINPROGRESS IN OUT ERR HUP RDHUP\nEACCES\nENOTSUP EINVAL 1 b\'y\''
}
check 'what no rule allows is EACCES; urgent data is refused @r' denied

datagrams() {
	is "$(py --allow 'tcp.org:7 udp' -- <<-'END'
		u = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
		u.settimeout(100)
		to = (socket.gethostbyname("tcp.org"), 7)
		u.sendto(b"by name", to)
		data, peer = u.recvfrom(99)
		print(data, peer == to)
		for port in 9, 4000:
		    u = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
		    u.settimeout(100)
		    u.sendto(b"x", (to[0], port))
		    print(tried(u.recv, 1), tried(u.sendto, b"x", (to[0], port)))
		print(tried(socket.create_connection, to))
		# More destinations than a socket can have at once, and more sockets than that.
		u = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
		u.settimeout(100)
		n = sum(tried(u.sendto, b"x", (to[0], 10000 + p)) == 1 for p in range(200))
		# The errors of those come when they come, and a call that gives one sends nothing.
		u.settimeout(1)
		got = None
		while got != b"still":
		    tried(u.sendto, b"still", to)
		    got = tried(u.recv, 9)
		print(n > 0, got)
		all = [socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(500)]
		# Not more at once than the server's socket has room for: what is beyond is lost, as anywhere.
		n = 0
		for wave in (all[i:i + 50] for i in range(0, 500, 50)):
		    for i, u in enumerate(wave):
		        u.settimeout(100)
		        u.connect(to)
		        u.send(b"%d" % i)
		    n += sum(u.recv(9) == b"%d" % i for i, u in enumerate(wave))
		print(n)
	END
	)" "b'by name' True
EACCES EACCES
EACCES EACCES
EACCES
True b'still'
500"
}
check 'datagrams need a rule of their own, and know names' datagrams

by_program() {
	local rules=(--allow 'tcp.org:7 tcp program=/usr/bin/python3*')
	is "$(py "${rules[@]}" -- <<<'s = to(7); s.send(b"x"); print(s.recv(9))')" "b'x'"
	exits 1 viv "${rules[@]}" -- bash -c 'exec 3<>/dev/tcp/tcp.org/7'
	like "$(<err)" '*Permission denied*'
}
check 'a rule may be for a program' by_program

# The gate sees what the client says first before it lets go.
held() {
	is "$(py --allow 'tcp.org:13,20,4000' -- <<-'END'
		s = to(4000)
		s.settimeout(None)
		print(polled(s), s.getpeername()[1], tried(s.recv, 1, socket.MSG_DONTWAIT))
		s.send(b"1 echo\n")
		print(tried(s.recv, 1), tried(s.recv, 1), tried(s.send, b"x"))
		s = to(13)
		print(polled(s, select.POLLRDHUP), tried(s.recv, 9), tried(s.send, b"x"))
		# The end may come before connect has seen that there was a connection.
		s = socket.socket()
		s.setblocking(False)
		peer = (socket.gethostbyname("tcp.org"), 13)
		print(tried(s.connect, peer), polled(s, select.POLLRDHUP), tried(s.connect, peer), tried(s.connect, peer))
		# A reset that comes before connect returns is connect's error, on Linux as well.
		while (s := tried(to, 20)) == "ECONNRESET":
		    pass
		print(polled(s, select.POLLERR), tried(s.recv, 9), tried(s.recv, 9))
		s = to(4000)
		s.shutdown(socket.SHUT_WR)
		print(polled(s, select.POLLRDHUP), tried(s.recv, 9))
		to(4000).close()
	END
	)" "OUT 4000 EAGAIN
ECONNRESET b'' EPIPE
IN OUT HUP RDHUP b'' EPIPE
EINPROGRESS IN OUT HUP RDHUP None EISCONN
IN OUT ERR HUP RDHUP ECONNRESET b''
IN OUT HUP RDHUP b''"
	# A hello that comes byte by byte, with more behind it.
	is "$(py --allow good.org --mount "$E2E_WORLD/ca.pem:/ca.pem:ro" -- <<-'END'
		import ssl
		s, i, o = to(443, "good.org"), ssl.MemoryBIO(), ssl.MemoryBIO()
		t = ssl.create_default_context(cafile="/ca.pem").wrap_bio(i, o, server_hostname="good.org")
		done = False
		while not done:
		    try:
		        t.do_handshake()
		        done = True
		    except ssl.SSLWantReadError:
		        pass
		    if done:
		        t.write(b"GET /who HTTP/1.0\r\nHost: good.org\r\n\r\n")
		    for b in o.read():
		        s.send(bytes([b]))
		    if not done:
		        i.write(s.recv(65536))
		while data := s.recv(65536):
		    i.write(data)
		print(t.read(65536).split(b"\r\n")[-1])
	END
	)" "b'good.org 93.184.216.34 443 HTTP/1.0\\n'"
}
check 'connections that are held until the client has spoken' held

# Options reach the host's socket, whenever they are set.
reach() {
	mkdir d
	py --allow 'tcp.org:9 tcp' --mount "$PWD/d:/d:ro" -- >out <<-'END' &
		for when in range(2):
		    s = socket.socket()
		    for _ in range(2):
		        if _ == when:
		            s.connect((socket.gethostbyname("tcp.org"), 9))
		        else:
		            s.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
		            s.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, 3300 + when)
		    globals()[f"kept{when}"] = s
		print("done", flush=True)
		while not os.path.exists("/d/end"):
		    time.sleep(0.1)
	END
	at_end "touch d/end; wait $!"
	soon grep -q done out
	like "$(ss -tno 'dport = 9')" '*keepalive,5[0-9]min*keepalive,5[0-9]min*'
}
check 'keep-alive of a guest is that of the host' reach

many() {
	local LIMIT=120
	is "$(py --allow 'tcp.org:7 tcp' -- <<-'END'
		resource.setrlimit(resource.RLIMIT_NOFILE, (4096, 4096))
		addr, all = (socket.gethostbyname("tcp.org"), 7), []
		for i in range(1000):
		    s = socket.socket()
		    s.setblocking(False)
		    tried(s.connect, addr)
		    all.append(s)
		ep, got = select.epoll(), {}
		for s in all:
		    ep.register(s, select.EPOLLOUT)
		by = {s.fileno(): s for s in all}
		sent = set()
		while len(got) < 1000:
		    for fd, events in ep.poll(30):
		        if fd not in sent:
		            by[fd].send(b"%d" % fd)
		            sent.add(fd)
		            ep.modify(fd, select.EPOLLIN)
		        else:
		            got[fd] = by[fd].recv(99)
		            ep.unregister(fd)
		print(all[0].getsockopt(socket.SOL_SOCKET, socket.SO_ERROR), sum(got[fd] == b"%d" % fd for fd in got))
	END
	)" '0 1000'
	soon no_connections 7
}
no_connections() { # port
	! ss -tn state established "dport = $1" | grep -q ":$1"
}
check '1,000 connections at once @r' many

limits() {
	is "$(py --allow 'tcp.org:7,9,19 tcp' --max-connections 3 -- <<-'END'
		all = [to(7) for _ in range(3)]
		print(tried(to, 7))
		all.pop().close()
		all.append(to(7))
		print(all[2].send(b"x"), all[2].recv(1))
	END
	)" $'EADDRNOTAVAIL\n1 b\'x\''
	is "$(py --allow 'tcp.org:9 tcp' --max-net-out 100000 -- <<-'END'
		s, n = to(9), 0
		while isinstance(r := tried(s.send, bytes(30000)), int):
		    n += r
		print(n, r, tried(to, 9))
	END
	)" '100000 EDQUOT EDQUOT'
	is "$(py --allow 'tcp.org:19 tcp' --max-net-in 100000 -- <<-'END'
		s, n = to(19), 0
		while isinstance(r := tried(s.recv, 30000), bytes):
		    n += len(r)
		print(n, r)
	END
	)" '100000 EDQUOT'
	is "$(py --allow 'tcp.org:7 udp' --max-connections 2 --max-net-out 2000 -- <<-'END'
		all = [socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(3)]
		for u in all:
		    u.connect((socket.gethostbyname("tcp.org"), 7))
		print([tried(u.send, bytes(500)) for u in all], [len(u.recv(999)) for u in all[:2]])
		print(tried(all[0].send, bytes(900)), tried(all[0].send, bytes(900)), tried(all[0].send, bytes(100)))
	END
	)" $"[500, 500, 'EADDRNOTAVAIL'] [500, 500]
900 EDQUOT 100"
}
check 'limits of connections and bytes' limits

rates() {
	# As fast as it may, blocking and with poll, but no faster; with another rate from then on.
	is "$(py --allow 'tcp.org:7,9,19 tcp' --allow 'tcp.org:7 udp' --max-net-rate 200K -- <<-'END'
		import select, time
		def rate(move):
		    begin, n = time.monotonic(), 0
		    while time.monotonic() - begin < 1.5:
		        n += move()
		    return n / (time.monotonic() - begin)
		s, p, w = to(19), to(19), to(9)
		p.setblocking(False)
		def polled():
		    select.select([p], [], [])
		    got = tried(p.recv, 65536)
		    return len(got) if isinstance(got, bytes) else 0
		for move in (lambda: len(s.recv(65536)), polled, lambda: w.send(bytes(65536))):
		    print(10000 < rate(move) < 260000)
		# Both ways have a rate of their own, and small messages go on.
		e = to(7)
		e.send(b"x")
		print(e.recv(1))
		u = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
		u.connect((socket.gethostbyname("tcp.org"), 7))
		print(sum(u.send(bytes(1000)) for _ in range(2000)))
	END
	)" $'True\nTrue\nTrue\nb\'x\'\n2000000'
	own_vivd
	exits 0 timeout 180 "$VIV" run --detach --name slow --allow 'tcp.org:19 tcp' --max-net-rate 20K --max-connections 1 -- sleep 1000
	v exec slow bash -c 'exec 3<>/dev/tcp/tcp.org/19; touch /on; head -c 4000000 <&3 | wc -c; touch /done' >out 2>&1 &
	soon v exec slow test -e /on
	exits 1 v exec slow bash -c 'exec 3<>/dev/tcp/tcp.org/19'
	exits 1 v exec slow test -e /done
	exits 0 v update slow --max-net-rate 100M --max-connections 5
	wait $!
	is "$(cat out)" 4000000
	exits 0 v exec slow bash -c 'exec 3<>/dev/tcp/tcp.org/19'
	exits 0 api /v1/cells/slow -X PATCH -d '{"max_net_in": 1000}'
	exits 1 v exec slow bash -c 'exec 3<>/dev/tcp/tcp.org/19'
	grep -q 'Disk quota' err
	exits 0 v update slow --max-net-in 0
	is "$(v exec slow bash -c 'exec 3<>/dev/tcp/tcp.org/19; head -c 5000 <&3 | wc -c')" 5000
}
check 'bytes each second, and limits that change while the cell runs' rates
limit_event() {
	own_vivd
	exits 0 timeout 180 "$VIV" run --detach --name net --allow 'tcp.org:9 tcp' --max-net-out 1000 -- \
		bash -c 'exec 3<>/dev/tcp/tcp.org/9; head -c 5000 /dev/zero >&3; sleep 100'
	soon event_is net_out
}
event_is() { # limit
	timeout 20 "$VIV" events --since 0 --no-follow --json 2>/dev/null | grep -q "\"limit\":\"$1\""
}
check 'a limit of the network is told as an event' limit_event

storm() {
	local rule
	# The second one holds connections, and then refuses them.
	for rule in '93.184.216.36:* any' 'tcp.org:4000-4009'; do
		is "$(LIMIT=100 viv --quiet --allow "$rule" --mount "$P/outside_storm:/storm:ro" -- \
			sh -c "getent hosts tcp.org >/dev/null; exec /storm 93.184.216.36 3 $RANDOM" 2>&1)" \
			"$([[ $rule != *any ]] || echo still)"
		soon no_connections 4000
	done
}
check 'odd uses of sockets, by many at once' storm

# Neither a reader nor a writer that is slow makes anything grow, and a cell that is killed has no connections.
slow() {
	local pid used
	py --allow 'tcp.org:19,21 tcp' -- >out <<-'END' &
		readers, writers = [to(19) for _ in range(50)], [to(21) for _ in range(50)]
		for w in writers:
		    w.setblocking(False)
		    while tried(w.send, bytes(1 << 16)) != "EAGAIN":
		        pass
		time.sleep(1)
		for r in readers:
		    r.recv(10)
		print("done", flush=True)
		time.sleep(60)
	END
	pid=$!
	at_end "kill -9 $pid 2>/dev/null; wait $pid 2>/dev/null"
	soon grep -q done out
	used=$(descendants | awk '/viv-(kernel|gate)/ { print $1 }' | while read -r p; do awk '/^Pss_Anon|^Pss:/ { s = $2 } END { print s }' "/proc/$p/smaps_rollup"; done | sort -n | tail -n 1)
	((used < 60000)) || { echo "$used KiB are used"; return 1; }
	kill -9 "$(descendants | awk '$2 ~ /\/viv$/ && $3 == "run" { print $1; exit }')"
	soon no_connections 19
	soon no_connections 21
}
check 'slow peers cost no memory; a killed cell leaves no connection' slow

world_end
