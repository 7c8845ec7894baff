# The gate: how it is locked in, how it ends and comes back, and what a hostile kernel can do to it. shellcheck shell=bash
# world
# shellcheck source=tests/e2e/world.sh
. "$E2E_DIR/world.sh"
world_name_server
world_web
world_plain

gate_pid() { descendants | awk '$2 ~ /viv-gate/ { print $1 }'; }
# At the return its keeper knows: it has reaped it.
gate_kill() {
	local g
	g=$(gate_pid)
	kill -9 "$g"
	soon test ! -e "/proc/$g"
}
vivd_kill() {
	local pid
	pid=$(pid_of)
	kill -9 "$pid"
	soon gone "$pid"
}
# A cell with vivd that has used its network, so that there is a gate. Options of viv create follow the name.
cell_up() { # name, options...
	own_vivd
	v create --name "$1" --allow good.org --allow 'tcp.org:7 tcp' --mount "$E2E_WORLD/ca.pem:/ca.pem:ro" "${@:2}" -- sleep 1000
	v start "$1"
	hello "$1"
}
no_gate() { [[ -z $(gate_pid) ]]; }
hello() { is "$(v exec "$1" -- curl -sS --max-time 120 --cacert /ca.pem https://good.org/)" hello; }

# What can be seen of it: with root, all; rootless, it is not dumpable and shows little.
locked_in() {
	local g field ns fd to
	cell_up c
	g=$(gate_pid)
	for field in CapInh CapPrm CapEff CapBnd CapAmb; do
		is "$(sed -n "s/^$field:\t//p" "/proc/$g/status")" 0000000000000000 "$field"
	done
	is "$(sed -n 's/^NoNewPrivs:\t//p' "/proc/$g/status")" 1
	is "$(sed -n 's/^Seccomp:\t//p' "/proc/$g/status")" 2
	is "$(sed -n 's/^NSpid:.*\t//p' "/proc/$g/status")" 1 'process 1 of its namespace'
	for field in 'Max core file size' 'Max processes' 'Max locked memory'; do
		like "$(grep "^$field " "/proc/$g/limits")" "$field * 0 * 0 *"
	done
	[[ -n $E2E_ROOTLESS ]] && return
	is "$(sed -n 's/^Groups:[\t ]*//p' "/proc/$g/status")" '' groups
	like "$(sed -n 's/^Uid:\t//p' "/proc/$g/status")" '1[89]????????*' 'a uid of its own'
	for ns in user mnt pid ipc uts cgroup; do
		[[ $(readlink "/proc/$g/ns/$ns") != "$(readlink "/proc/self/ns/$ns")" ]] || { echo "it shares $ns"; return 1; }
	done
	is "$(readlink "/proc/$g/ns/net")" "$(readlink /proc/self/ns/net)" 'the network is the host'"'"'s'
	is "$(ls -A "/proc/$g/root/")" '' 'its root'
	fails touch "/proc/$g/root/x" 2>/dev/null
	for fd in "/proc/$g/fd/"*; do
		to=$(readlink "$fd")
		case ${fd##*/} in
		0 | 1) is "$to" /dev/null ;;
		2) like "$to" 'pipe:*' ;;
		*) case $to in 'socket:['* | 'anon_inode:[eventpoll]' | 'anon_inode:[eventfd]' | / | */ca-certificates.crt | /memfd:names*) ;; *) echo "descriptor ${fd##*/} is $to" && return 1 ;; esac ;;
		esac
	done
	# No memory of it can be written and run.
	fails grep ' .wx' "/proc/$g/maps"
}
check 'the gate is locked in @r' locked_in

# All connections end with the gate, those that it handed over as well: the next one could not take them back when the policy
# changes.
crash() {
	mkfifo in
	viv --allow good.org --allow 'tcp.org:7 tcp' -- python3 -uc '
import socket
def line(s):
    try:
        s.sendall(b"echo\n")
        return s.recv(100).decode().strip()
    except OSError as e:
        return e.strerror
passed = socket.create_connection(("tcp.org", 7))
held = socket.create_connection(("good.org", 443))
print(line(passed))
input()
for s in passed, held:
    try:
        print(s.recv(1))
    except OSError as e:
        print(e.strerror)
print(line(socket.create_connection(("tcp.org", 7))))' <in >out &
	exec 3>in
	soon grep -q echo out
	kill -9 "$(gate_pid)"
	echo >&3
	exec 3>&-
	wait $!
	is "$(cat out)" $'echo\nConnection reset by peer\nConnection reset by peer\necho'
}
check 'connections end with a gate that is killed, and there is another @r' crash

# An address that a program was told stands for the same name with the next gate, also a made one.
names_stay() {
	local a b
	cell_up c --allow 'same.org:80 tcp' --allow 'other.org:80 tcp' --allow 'www.good.org:80 tcp'
	a=$(v exec c -- getent hosts same.org | awk '{ print $1 }')
	like "$a" '198.18.*'
	gate_kill
	b=$(v exec c -- getent hosts www.good.org | awk '{ print $1 }')
	like "$b" '198.18.*'
	[[ $a != "$b" ]]
	is "$(v exec c -- getent hosts same.org | awk '{ print $1 }')" "$a"
	is "$(v exec c -- curl -sS -H 'Host: same.org' "http://$a/who")" 'same.org 93.184.216.34 80 HTTP/1.1'
}
check 'addresses stand for the same names with the next gate' names_stay

# Gates that end again and again: the cell goes on without a network, and has one again later.
again_and_again() {
	local i
	cell_up c --allow '93.184.216.36:7 tcp'
	for ((i = 0; i < 10; i++)); do
		gate_kill
		((i == 9)) || v exec c -- bash -c 'exec 3<>/dev/tcp/93.184.216.36/7'
	done
	exits 1 v exec c -- bash -c 'exec 3<>/dev/tcp/93.184.216.36/7'
	like "$(cat err)" '*Network is unreachable*'
	is "$(gate_pid)" '' 'no gate'
	like "$(v events --since 0 --no-follow)" '*viv-gate ends again and again; the cell has no network for 10 seconds*'
	is "$(v exec c -- echo still here)" 'still here'
	soon v exec c -- bash -c 'exec 3<>/dev/tcp/93.184.216.36/7' 2>/dev/null
	hello c
}
check 'gates that end again and again are given a rest @r' again_and_again

with_its_cell() {
	local viv_pid g
	# viv run is killed.
	"$VIV" run --allow good.org -- sh -c 'getent hosts good.org; sleep 1000' >out 2>&1 &
	viv_pid=$!
	soon grep -q good.org out
	g=$(gate_pid)
	[[ -n $g ]]
	kill -9 "$viv_pid"
	soon gone "$g"
	wait "$viv_pid" || true
	# The cell ends.
	viv --allow good.org -- getent hosts good.org
	soon no_gate
	# The keeper is killed.
	cell_up c
	g=$(gate_pid)
	kill -9 "$(ps -o ppid= -p "$g")"
	soon gone "$g"
	soon state_is c failed
	# vivd is killed: it stays.
	v start c
	hello c
	g=$(gate_pid)
	vivd_kill
	hello c
	is "$(gate_pid)" "$g" 'the same gate'
	# The gate is stopped, and the cell removed.
	kill -STOP "$g"
	v rm -f c
	soon gone "$g"
}
check 'a gate ends with its cell and its keeper, not with vivd @r' with_its_cell

# In place of a kernel, a program that says on the channel what it likes.
hostile_kernel() {
	python3 "$E2E_DIR/hostile_kernel.py" "$(dirname "$VIV")/viv-gate" "${FUZZ_SEED:-1}" "${FUZZ_COUNT:-1000}" >out 2>&1
	is "$(grep -v '^#' out)" ''
	grep -q ' s$' out
}
check 'a captured kernel gets no more out of the gate' hostile_kernel

# viv doctor looks at name servers and CA certificates; nobody is asked.
doctor() {
	v doctor >out || true
	like "$(grep name-servers out)" "ok * name server: $WORLD_DNS"
	like "$(grep ca-bundle out)" 'ok * CA certificates in /etc/ssl/certs/ca-certificates.crt'
	SSL_CERT_FILE=/dev/null v doctor >out || true
	like "$(grep ca-bundle out)" 'warn * no CA certificates in /dev/null: *'
	[[ -n $E2E_ROOTLESS ]] && return
	printf 'nameserver 127.0.0.77\n' >resolv
	unshare -m sh -c 'mount --bind resolv /etc/resolv.conf && "$0" doctor' "$VIV" >out || true
	like "$(grep name-servers out)" 'warn * the name server 127.0.0.77 cannot be reached: Connection refused'
	echo >resolv
	unshare -m sh -c 'mount --bind resolv /etc/resolv.conf && "$0" doctor' "$VIV" >out || true
	like "$(grep name-servers out)" 'warn * no name server: *'
}
check 'doctor: name servers and CA certificates @r' doctor

world_end
