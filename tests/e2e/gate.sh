# The gate: how it is locked in, how it ends and comes back, and what a hostile kernel can do to it. shellcheck shell=bash
# world
# shellcheck source=tests/e2e/world.sh
. "$E2E_DIR/world.sh"
world_name_server
world_web
world_plain

gate_pid() { descendants | awk '$2 ~ /viv-gate/ { print $1 }'; }
# A cell with vivd that has used its network, so that there is a gate. Options of viv create follow the name.
cell_up() { # name, options...
	own_vivd
	v create --name "$1" --allow good.org --allow 'tcp.org:7 tcp' --mount "$E2E_WORLD/ca.pem:/ca.pem:ro" "${@:2}" -- sleep 1000
	v start "$1"
	hello "$1"
}
hello() { is "$(v exec "$1" -- curl -sS --max-time 20 --cacert /ca.pem https://good.org/)" hello; }

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
	for field in 'Max core file size' 'Max processes' 'Max locked memory' 'Max file size'; do
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
	! touch "/proc/$g/root/x" 2>/dev/null
	for fd in "/proc/$g/fd/"*; do
		to=$(readlink "$fd")
		case ${fd##*/} in
		0 | 1) is "$to" /dev/null ;;
		2) like "$to" 'pipe:*' ;;
		*) case $to in 'socket:['* | 'anon_inode:[eventpoll]' | / | */ca-certificates.crt) ;; *) echo "descriptor ${fd##*/} is $to" && return 1 ;; esac ;;
		esac
	done
	# No memory of it can be written and run.
	! grep ' .wx' "/proc/$g/maps"
}
check 'the gate is locked in @r' locked_in
world_end
