# sqlite3, redis and PostgreSQL, each with clients of its own. shellcheck shell=bash

LIMIT=180
tool_same 'sqlite3: WAL, two writers and a reader' sqlite3 bash <<'END'
set -e
sqlite3 a.db 'pragma journal_mode = wal; create table t(x, w);'
w() { for ((i = 1; i <= 200; i++)); do echo "insert into t values($i, $1);"; done | sqlite3 -cmd '.timeout 30000' a.db; }
w 1 & a=$!; w 2 & b=$!
for ((i = 0; i < 20; i++)); do sqlite3 -cmd '.timeout 30000' a.db 'select count(*) >= 0 from t' >>seen; done
wait $a; wait $b
sort -u seen; sqlite3 a.db 'select count(*), sum(x), count(distinct w) from t; pragma integrity_check;'; ls
exec 3> >(sqlite3 a.db); echo "begin immediate; insert into t values(1, 3);" >&3; sleep 0.5
sqlite3 a.db "insert into t values(2, 4)" 2>&1 || true; echo 'rollback;' >&3; exec 3>&-; sleep 0.3; sqlite3 a.db 'select count(*) from t'
END

inside 'redis: benchmark, persistence, restart' 'redis-server redis-cli redis-benchmark' $'PONG\n3\nvalue\nvalue' <<'END'
start() { redis-server --port 7000 --unixsocket "$PWD/sock" --daemonize yes --appendonly yes --dir "$PWD" --logfile "$PWD/log" --pidfile "$PWD/pid" >/dev/null; soon redis-cli -p 7000 ping; }
start; redis-cli -p 7000 ping
redis-benchmark -p 7000 -n 2000 -c 20 --csv -t set,get,lpush | grep -c '^"\(SET\|GET\|LPUSH\)","[1-9]'
redis-benchmark -s "$PWD/sock" -n 2000 -P 16 -q -t set >/dev/null
redis-cli -p 7000 set key value >/dev/null; redis-cli -s "$PWD/sock" get key
redis-cli -p 7000 bgsave >/dev/null; soon sh -c 'test -s dump.rdb'
p=$(cat pid); redis-cli -p 7000 shutdown; soon sh -c "! kill -0 $p"
start; redis-cli -p 7000 get key; redis-cli -p 7000 shutdown
END

inside 'PostgreSQL: initdb, start, pgbench, recovery' 'initdb pg_ctl pgbench psql' $'100000\n0\nt\n7\nrecovered' --user agent <<'END'
export HOME=$PWD PGDATA=$PWD/d PGHOST=$PWD PGDATABASE=postgres
initdb -A trust >log 2>&1 || { cat log; exit 1; }
pg_ctl -w -l server.log -o "-k $PWD -h 127.0.0.1" start >log || { cat server.log; exit 1; }
pgbench -i -q 2>log; psql -h 127.0.0.1 -Atc 'select count(*) from pgbench_accounts'
pgbench -c 4 -j 2 -t 100 >log 2>&1; sed -n 's/^number of failed transactions: \([0-9]*\).*/\1/p' log
psql -Atc 'select (select sum(delta) from pgbench_history) = (select sum(abalance) from pgbench_accounts)'
psql -Atqc 'set max_parallel_workers_per_gather = 2; set parallel_setup_cost = 0; set min_parallel_table_scan_size = 0; create table k as select 7 as n; select max(n) from k'
pg_ctl -m immediate stop >/dev/null; pg_ctl -w -l second.log -o "-k $PWD -h 127.0.0.1" start >/dev/null
grep -q 'automatic recovery' second.log && [ "$(psql -Atc 'select n from k')" = 7 ] && echo recovered
pg_ctl -m fast stop >/dev/null
END
