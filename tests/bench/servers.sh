#!/bin/bash
# A server and its own benchmark on one loopback, wherever this runs:
#
#   servers.sh redis|postgres|postgres-200|nginx|jvm DIR RUNS    prints requests (transactions) in a second, one line for each run
#
# The server keeps its files in DIR, starts once, and answers one run that is not counted before those that are. Both ends
# of every connection are here. PostgreSQL does not run as root: root becomes nobody for it. It does not wait for the disk
# (fsync off), as what is under DIR is a disk in one place and memory in another. postgres-200: with 196 connections more, which do
# nothing. jvm: a thread for each of 1,000 connections, and requests on one after the other.
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

postgres() { # connections that do nothing
	local idle=${1:-0} waits=
	need initdb pg_ctl pgbench
	if [[ $(id -u) == 0 ]]; then
		chown 65534:65534 "$dir"
		exec setpriv --reuid 65534 --regid 65534 --clear-groups "$BASH" "$self" "$what" "$dir" "$runs"
	fi
	export HOME=$dir PGDATA=$dir/d PGHOST=127.0.0.1 PGPORT=7432 PGDATABASE=postgres
	initdb -N -A trust -U bench >"$dir/log" 2>&1 || { tail -n 3 "$dir/log" >&2; exit 1; }
	pg_ctl -w -l "$dir/log" -o "-F -N $((idle + 100)) -k '$dir' -h 127.0.0.1 -p 7432" start >"$dir/out" || { tail -n 3 "$dir/log" >&2; exit 1; }
	pgbench -U bench -i -q 2>"$dir/out"
	one() { pgbench -U bench -n -c 4 -j 2 -T "$1" 2>/dev/null | sed -n 's/^tps = \([0-9.]*\).*/\1/p'; }
	if [[ $idle != 0 ]]; then
		echo '\sleep 600 s' >"$dir/idle.sql"
		pgbench -U bench -n -c "$idle" -j 1 -T 600 -f "$dir/idle.sql" >"$dir/idle" 2>&1 &
		waits=$!
		connected() { [[ $(psql -U bench -Atc "select count(*) from pg_stat_activity where application_name = 'pgbench'") == "$idle" ]]; }
		soon connected
	fi
	one 1 >/dev/null
	for ((r = 0; r < runs; r++)); do one 3; done
	[[ -z $waits ]] || kill "$waits"
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

jvm() {
	need java javac
	cat >"$dir/Pool.java" <<'X'
import java.io.*;
import java.net.*;

public class Pool {
	static void serve(Socket s) {
		try (s) {
			InputStream in = s.getInputStream();
			OutputStream out = s.getOutputStream();
			for (int c; (c = in.read()) >= 0;)
				out.write(c);
		} catch (IOException e) {
		}
	}

	public static void main(String[] a) throws Exception {
		int n = Integer.parseInt(a[0]), runs = Integer.parseInt(a[1]);
		ServerSocket l = new ServerSocket(0, n, InetAddress.getLoopbackAddress());
		Socket[] c = new Socket[n];
		for (int i = 0; i < n; i++) {
			c[i] = new Socket(l.getInetAddress(), l.getLocalPort());
			c[i].setTcpNoDelay(true);
			Socket s = l.accept();
			s.setTcpNoDelay(true);
			Thread t = new Thread(null, () -> serve(s), "s" + i, 256 << 10);
			t.setDaemon(true);
			t.start();
		}
		for (int r = -1; r < runs; r++) {
			long start = System.nanoTime();
			int count = r < 0 ? n : 4 * n;
			for (int i = 0; i < count; i++) {
				c[i % n].getOutputStream().write(7);
				if (c[i % n].getInputStream().read() != 7)
					System.exit(1);
			}
			if (r >= 0)
				System.out.println(count * 1e9 / (System.nanoTime() - start));
		}
		System.exit(0);
	}
}
X
	javac -d "$dir" "$dir/Pool.java"
	java -Xmx256m -cp "$dir" Pool 1000 "$runs"
}

cd "$dir"
case $what in
redis | postgres | nginx | jvm) "$what" ;;
postgres-200) postgres 196 ;;
*) exit 2 ;;
esac
