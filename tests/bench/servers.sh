#!/bin/bash
# A server and its own benchmark on one loopback, wherever this runs:
#
#   servers.sh redis|postgres|nginx DIR RUNS        prints requests (transactions) in a second, one line for each run
#
# The server keeps its files in DIR, starts once, and answers one run that is not counted before those that are. Both ends
# of every connection are here. PostgreSQL does not run as root: root becomes nobody for it. It does not wait for the disk
# (fsync off), as what is under DIR is a disk in one place and memory in another.
set -eu

[[ $# == 3 ]] || { sed -n '2,5s/^# \?//p' "$0" >&2; exit 2; }
what=$1 dir=$2 runs=$3
self=$(realpath "$0")
PATH=$PATH:/usr/sbin:$(printf '%s:' /usr/lib/postgresql/*/bin)
export LC_ALL=C.UTF-8

need() { # program...
	for p; do
		command -v "$p" >/dev/null || { echo "$p is not installed (make deps-bench)" >&2; exit 1; }
	done
}

soon() { # a command that succeeds within twenty seconds
	for ((i = 0; i < 200; i++)); do
		"$@" >/dev/null 2>&1 && return 0
		sleep 0.1
	done
	echo "never: $*" >&2
	exit 1
}

redis() {
	need redis-server redis-cli redis-benchmark
	redis-server --port 7379 --bind 127.0.0.1 --save '' --dir "$dir" --logfile "$dir/log" &
	soon redis-cli -p 7379 ping
	# The mean of GET and SET, 20 clients, no pipelining.
	one() {
		redis-benchmark -p 7379 -c 20 -n "$1" -t set,get --csv |
			awk -F'"' '$2 == "SET" || $2 == "GET" { sum += $4; n++ } END { if (n != 2) exit 1; print sum / n }'
	}
	one 1000 >/dev/null
	for ((r = 0; r < runs; r++)); do one 10000; done
	redis-cli -p 7379 shutdown nosave
	wait
}

postgres() {
	need initdb pg_ctl pgbench
	if [[ $(id -u) == 0 ]]; then
		chown 65534:65534 "$dir"
		exec setpriv --reuid 65534 --regid 65534 --clear-groups "$BASH" "$self" postgres "$dir" "$runs"
	fi
	export HOME=$dir PGDATA=$dir/d PGHOST=127.0.0.1 PGPORT=7432 PGDATABASE=postgres
	initdb -N -A trust -U bench >"$dir/log" 2>&1 || { tail -n 3 "$dir/log" >&2; exit 1; }
	pg_ctl -w -l "$dir/log" -o "-F -k '$dir' -h 127.0.0.1 -p 7432" start >"$dir/out" || { tail -n 3 "$dir/log" >&2; exit 1; }
	pgbench -U bench -i -q 2>"$dir/out"
	one() { pgbench -U bench -n -c 4 -j 2 -T "$1" 2>/dev/null | sed -n 's/^tps = \([0-9.]*\).*/\1/p'; }
	one 1 >/dev/null
	for ((r = 0; r < runs; r++)); do one 3; done
	pg_ctl -m immediate stop >"$dir/out"
}

nginx() {
	need nginx wrk curl
	mkdir "$dir/www"
	head -c 1024 /dev/zero | tr '\0' x >"$dir/www/index.html"
	cat >"$dir/conf" <<X
daemon off; worker_processes 1; pid $dir/pid; error_log $dir/err;
events { worker_connections 256; }
http {
	access_log off; sendfile on; keepalive_requests 1000000;
	client_body_temp_path $dir/1; proxy_temp_path $dir/2; fastcgi_temp_path $dir/3; uwsgi_temp_path $dir/4; scgi_temp_path $dir/5;
	server { listen 127.0.0.1:7080; root $dir/www; }
}
X
	[[ $(id -u) != 0 ]] || sed -i '1s/^/user root; /' "$dir/conf" # DIR is nobody else's
	command nginx -c "$dir/conf" 2>>"$dir/out" &
	soon curl -sf http://127.0.0.1:7080/
	one() { wrk -t 1 -c 16 -d "$1" http://127.0.0.1:7080/ | awk '/Socket errors|Non-2xx/ { exit 1 } $1 == "Requests/sec:" { print $2 }'; }
	one 1 >/dev/null
	for ((r = 0; r < runs; r++)); do one 2; done
	kill "$!"
	wait
}

cd "$dir"
case $what in
redis | postgres | nginx) "$what" ;;
*) exit 2 ;;
esac
