# Published ports (-p): the host's side is real sockets of the host, the cell's side real servers. Cells have no network to the outside.

answers() { curl -sf -m 5 -o /dev/null "$1"; }
# Listens and answers each connection with one line: what it is called here and there.
names='
import socket, sys
fam = socket.AF_INET6 if ":" in sys.argv[1] else socket.AF_INET
s = socket.socket(fam); s.bind((sys.argv[1], 80)); s.listen()
print("ready", flush=True)
while True:
    c, a = s.accept()
    assert c.getpeername() == a
    c.sendall(("%s %s\n" % (c.getsockname()[0], a[0])).encode()); c.close()'
ask() { # port [address]
	python3 -c 'import socket,sys; s=socket.create_connection((sys.argv[2], int(sys.argv[1])), 10); print(s.makefile().read(), end="")' "$1" "${2:-127.0.0.1}"
}
ready() { [[ $(v logs "$1") == *ready* ]]; }

where() {
	own_vivd
	local p at
	p=$(free_port)
	for at in 0.0.0.0 127.0.0.1 :: ::1; do
		v run -d --name c -p "$p:80" -- python3 -c "$names" "$at" >/dev/null
		soon ready c
		case $at in
		*.*) is "$(ask "$p")" '127.0.0.1 198.19.255.1' "$at" ;;
		::) is "$(ask "$p")" '::ffff:127.0.0.1 ::ffff:198.19.255.1' "$at" ;;
		::1) is "$(ask "$p")" '::1 fd7a:7669:7600:1::1' "$at" ;;
		esac
		v rm -f c >/dev/null
	done
	# With a network there is an address to be reached at.
	v run -d --name c --allow example.org -p "$p:80" -- python3 -c "$names" 0.0.0.0 >/dev/null
	soon ready c
	is "$(ask "$p")" '198.19.255.2 198.19.255.1' 'with a network'
	v rm -f c >/dev/null
	v run -d --name c -p '[::1]:0:80' -p 127.0.0.1:0:80 -p 80 -- python3 -c "$names" 0.0.0.0 >/dev/null
	soon ready c
	is "$(v port c | wc -l)" 3
	p=$(v port --json c | head -n 1 | field host_port)
	is "$(v port --json c | head -n 1 | field address)" ::1
	is "$(ask "$p" ::1)" '127.0.0.1 198.19.255.1' 'IPv6 of the host, IPv4 of the cell'
	like "$(v ps)" "*[[]*[[]::1]:$p->80/tcp, 127.0.0.1:*->80/tcp*"
	like "$(v ps --format '{{.Ports}}')" "[[]::1]:$p->80/tcp, *"
	is "$(v inspect c | field ports.0.cell_port)" 80
	exits 3 v port c 81
	like "$(cat err)" '*does not publish port 81*'
	# It is no way out.
	exits 1 v exec c -- python3 -c 'import socket
try: socket.create_connection(("198.19.255.1", 80), 5)
except OSError as e: print(e); raise SystemExit(1)'
	like "$(cat out)" '*unreachable*'
	v rm -f c >/dev/null
	fails ask "$p" ::1 2>/dev/null
}
check 'which programs are reached, and what they are called' where

refused() {
	own_vivd
	local p q
	p=$(free_port)
	v run -d --name c -p "$p:80" -- sleep 1000 >/dev/null
	python3 - "$p" <<'PY'
import socket, sys
try:
    s = socket.create_connection(("127.0.0.1", int(sys.argv[1])), 10)
    print("got", s.recv(10)); raise SystemExit(1)
except ConnectionResetError:
    pass
PY
	# In use: by another cell, by a program of the host, by itself.
	exits 125 viv -p "$p:80" -- true
	like "$(cat err)" "viv: port 127.0.0.1:$p is in use; *"
	exits 125 v run -d -p "$p:80" -- true
	like "$(cat err)" "viv: *port 127.0.0.1:$p is in use*"
	q=$(free_port)
	exits 125 viv -p "$q:80" -p "$q:81" -- true
	like "$(cat err)" "viv: port 127.0.0.1:$q is in use; *"
	viv -p "$q:80" -- true
	exits 125 viv -p 192.0.2.1:0:80 -- true
	like "$(cat err)" 'viv: cannot listen at port 192.0.2.1:*does not have the address*'
	exits 125 viv -p nonsense -- true
	like "$(cat err)" "viv: --publish 'nonsense'*"
	is "$(status_of /v1/cells -d '{"ports":["80:80:80:80"]}')" 400
	is "$(status_of /v1/cells -d '{"ports":"80"}')" 400
	# It ends, and the port is free.
	v stop -t 0 c >/dev/null
	viv -p "$p:80" -- true
	v start c >/dev/null
	is "$(v port c 80)" "127.0.0.1:$p"
	v update c -m 1G >/dev/null
	v pause c >/dev/null
	v resume c >/dev/null
}
check 'ports that nobody listens at, and ports that are in use' refused

servers() {
	own_vivd
	local p
	p=$(free_port)
	mkdir site
	head -c 300M /dev/zero >site/big
	echo hello >site/index.html
	v run -d --name py -p "$p:8000" --mount "$PWD/site:/site:ro" -w /site -- python3 -m http.server >/dev/null
	soon answers "http://127.0.0.1:$p/"
	is "$(curl -s "http://127.0.0.1:$p/")" hello
	is "$(curl -s "http://127.0.0.1:$p/big" | wc -c)" $((300 << 20))
	v rm -f py >/dev/null
	v run -d --name node -p "$p:3000" -- node -e '
const http = require("http");
http.createServer((q, s) => { let n = 0; q.on("data", d => n += d.length); q.on("end", () => s.end(q.socket.remoteAddress + " " + n)); }).listen(3000, "localhost")' >/dev/null
	soon answers "http://127.0.0.1:$p/"
	like "$(head -c 200M /dev/zero | curl -s -T - "http://127.0.0.1:$p/")" "*$((200 << 20))"
	v rm -f node >/dev/null
}
check 'servers of Python and Node, large bodies both ways' servers

crowd() {
	own_vivd
	local p
	p=$(free_port)
	v run -d --name c -p "$p:80" -- python3 -c '
import socket, threading
s = socket.socket(); s.bind(("127.0.0.1", 80)); s.listen(5)
def serve(c):
    while True:
        d = c.recv(4096)
        if not d: break
        c.sendall(d)
    c.close()
while True:
    c, a = s.accept()
    threading.Thread(target=serve, args=(c,), daemon=True).start()' >/dev/null
	soon ask_echo "$p"
	before=$(fds)
	python3 - "$p" <<'PY'
import socket, sys
port = int(sys.argv[1])
for round in range(3):
    all = [socket.create_connection(("127.0.0.1", port), 30) for i in range(200)]
    for i, s in enumerate(all): s.sendall(b"%d\n" % i)
    for i, s in enumerate(all):
        assert s.makefile().readline() == "%d\n" % i
        s.shutdown(socket.SHUT_WR)
    for s in all: assert s.recv(1) == b""
    for s in all: s.close()
PY
	# Nothing of them is left, neither here nor there.
	soon fds_are "$before"
}
ask_echo() { python3 -c 'import socket,sys; s=socket.create_connection(("127.0.0.1",int(sys.argv[1])),5); s.sendall(b"x"); assert s.recv(1)==b"x"' "$1" 2>/dev/null; }
fds() { # of its kernel and its keeper
	local pid
	pid=$(api /v1/cells/c | field pid)
	ls "/proc/$pid/fd" "/proc/$(ps -o ppid= -p "$pid" | tr -d ' ')/fd" | wc -l
}
fds_are() { (($(fds) <= $1 + 4)); }
check '200 connections at once, three times, and nothing is left of them' crowd

hostile() {
	own_vivd
	local p
	p=$(free_port)
	# Listens and never accepts; what is beyond its queue is broken off, and the cell can still be used.
	v run -d --name c -p "$p:80" -- python3 -c '
import socket, time
s = socket.socket(); s.bind(("127.0.0.1", 80)); s.listen(0); print("ready", flush=True); time.sleep(1000)' >/dev/null
	soon ready c
	python3 - "$p" <<'PY'
import resource, socket, sys
resource.setrlimit(resource.RLIMIT_NOFILE, (4096, 4096))
all, refused = [], 0
for i in range(1300):
    try: all.append(socket.create_connection(("127.0.0.1", int(sys.argv[1])), 30))
    except ConnectionResetError: refused += 1
for s in all[1030:]:
    s.settimeout(20)
    try: s.recv(1)
    except ConnectionResetError: refused += 1
print(refused)
assert refused >= 150 and len(all) >= 1000
PY
	is "$(v exec c -- echo alive)" alive
	v rm -f c >/dev/null
	# Accepts and never reads: the writer stops, and memory does not grow.
	v run -d --name c -p "$p:80" -- python3 -c '
import socket, time
s = socket.socket(); s.bind(("127.0.0.1", 80)); s.listen(5); c = s.accept(); print("ready", flush=True); time.sleep(1000)' >/dev/null
	python3 - "$p" <<'PY'
import socket, sys, time
for i in range(100):
    try: s = socket.create_connection(("127.0.0.1", int(sys.argv[1])), 30); s.settimeout(3); s.sendall(b"x"); time.sleep(.1); s.sendall(b"x"); break
    except OSError: time.sleep(.1)
n = 0
try:
    while n < 1 << 30: n += s.send(bytes(1 << 20))
    raise SystemExit("nobody stopped us")
except socket.timeout: print(n)
PY
	is "$(v exec c -- echo alive)" alive
}
check 'a cell that never accepts, and one that never reads' hostile

survive() {
	own_vivd
	local p pid
	p=$(free_port)
	v run -d --name c -p "$p:80" -- python3 -c "$names" 127.0.0.1 >/dev/null
	soon ready c
	pid=$(pid_of)
	kill -KILL "$pid"
	is "$(ask "$p")" '127.0.0.1 198.19.255.1' 'without vivd'
	is "$(v port c 80)" "127.0.0.1:$p" 'with the next one'
	# Its kernel is killed: so is the port.
	kill -KILL "$(api /v1/cells/c | field pid)"
	soon state_is c failed
	# Its keeper, which has the port, ends a moment later.
	soon eval 'viv -p "$p:80" -- true 2>/dev/null'
}
check 'a published port works without vivd and ends with the cell' survive

warm() {
	own_vivd
	local p i
	p=$(free_port)
	v daemon start
	for i in 1 2 3; do
		v run -d -p "$p:80" -p 0:81 -- python3 -c "$names" 127.0.0.1 >id
		soon ready "$(cat id)"
		is "$(ask "$p")" '127.0.0.1 198.19.255.1'
		is "$(v port "$(cat id)" 80)" "127.0.0.1:$p"
		exits 125 v run -d -p "$p:80" -- true
		like "$(cat err)" "viv: *port 127.0.0.1:$p is in use*"
		v rm -f "$(cat id)" >/dev/null
	done
	cat >vivarium.yaml <<YAML
cells:
  web:
    ports: ["$p:80"]
    command: [python3, -c, $(python3 -c 'import json,sys; print(json.dumps(sys.argv[1]))' "$names"), 127.0.0.1]
YAML
	v up >/dev/null 2>&1
	i=$(v ps -q)
	soon ready "$i"
	is "$(ask "$p")" '127.0.0.1 198.19.255.1' 'of a project'
}
check 'ports of warm cells and of projects' warm

# Echoes datagrams with the name of their sender; a datagram "away" makes it try others.
echo_udp='
import errno, socket, sys
s = socket.socket(socket.AF_INET6 if ":" in sys.argv[1] else socket.AF_INET, socket.SOCK_DGRAM); s.bind((sys.argv[1], 5353))
print("ready", flush=True)
while True:
    d, a = s.recvfrom(65536)
    if d == b"away":
        out = []
        for to in (("198.19.255.1", 9), ("127.0.0.1", a[1]), ("8.8.8.8", a[1]), (a[0], a[1] ^ 1)):
            try: s.sendto(b"x", to); out.append("sent")
            except OSError as e: out.append(errno.errorcode[e.errno])
        # Another socket cannot answer for this one.
        o = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        try: o.sendto(b"stray", a); out.append("sent")
        except OSError as e: out.append(errno.errorcode[e.errno])
        d = " ".join(out).encode()
    if d == b"connect":
        s.connect(a); s.send(b"connected");
        c = s; s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); c.close(); s.bind((sys.argv[1], 5353)); continue
    s.sendto(("%s " % a[0]).encode() + d, a)'
udp() {
	own_vivd
	local p at
	p=$(free_port)
	for at in 127.0.0.1 0.0.0.0 :: ::1; do
		v run -d --name c -p "$p:5353/udp" -- python3 -c "$echo_udp" "$at" >/dev/null
		soon ready c
		is "$(v port c)" "127.0.0.1:$p->5353/udp"
		is "$(v port c 5353/udp)" "127.0.0.1:$p"
		python3 - "$p" "$at" <<'PY'
import socket, sys
at, wild = sys.argv[2], ("127.0.0.1", int(sys.argv[1]))
host = {"127.0.0.1": b"198.19.255.1 ", "0.0.0.0": b"198.19.255.1 ", "::": b"::ffff:198.19.255.1 ", "::1": b"fd7a:7669:7600:1::1 "}[at]
def client():
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.settimeout(10); s.connect(wild); return s
def ask(s, d):
    s.send(d)
    got = s.recv(65536)
    assert got == host + d, (got[:100], d[:100])
a, b = client(), client()
for d in (b"one", b"", b"x" * 60000): ask(a, d); ask(b, d)
for i in range(600): ask(client(), b"%d" % i)
ask(b, b"after many others")
PY
		v rm -f c >/dev/null
	done
	v run -d --name c -p "$p:5353/udp" -- python3 -c "$echo_udp" 127.0.0.1 >/dev/null
	soon ready c
	python3 - "$p" <<'PY'
import socket, sys
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.settimeout(10); s.connect(("127.0.0.1", int(sys.argv[1])))
s.send(b"away")
got = s.recv(65536)
assert got == b"198.19.255.1 ENETUNREACH sent ENETUNREACH ENETUNREACH ENETUNREACH", got
s.send(b"connect")
assert s.recv(100) == b"connected"
s.settimeout(0.5)
# A flood, of which some is lost, and nothing else.
for i in range(20000):
    try: s.send(b"y" * 1000)
    except OSError: pass
try:
    while True: s.recv(65536)
except socket.timeout: pass
s.settimeout(10)
s.send(b"still there")
assert s.recv(100).endswith(b"still there")
PY
	exits 125 viv -p "$p:53/udp" -- true
	like "$(cat err)" "viv: port 127.0.0.1:$p is in use; *"
	viv -p "$p:53/tcp" -- true
}
check 'datagrams to published ports, and answers to nobody else' udp
