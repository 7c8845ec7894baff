# Cells that make cells: viv inside a cell, its budget, its end, and what must not work. shellcheck shell=bash

rules() { printf '%s\n' "$@" >rules.policy; }
# A parent that waits, with the tests in it; options of 'viv run' before it.
parent() { # name, options...
	local name=$1
	shift
	v run -d --quiet --name "$name" --policy rules.policy --mount "$E2E_DIR:/e2e:ro" "$@" -- sleep 100000 >/dev/null
}
in_cell() { # cell, words...
	v exec "$@"
}
py() { # cell, words...
	local cell=$1
	shift
	v exec "$cell" -- python3 /e2e/subcells.py "$@"
}
made() { # cell, JSON: the status of making a child
	py "$1" call POST /v1/cells "$2" | head -c 3
}
id_of() { api "/v1/cells/$1" | field id; }
children() { api "/v1/cells/$1" | python3 -c 'import json,sys; print(len(json.load(sys.stdin)["children"]))'; }
children_are() { [[ $(children "$1") == "$2" ]]; }
kernel_of() { api "/v1/cells/$1" | field pid; }
no_cell() { [[ $(status_of "/v1/cells/$1") == 404 ]]; }

reserved() { api "/v1/cells/$1" | python3 -c 'import json,sys; print(json.load(sys.stdin).get("reserved", {}).get("'"$2"'", 0))'; }
verbs() {
	own_vivd
	rules 'allow cells host'
	cat >script <<'END'
viv run -- sh -c 'echo out; echo err >&2; exit 3'; echo "status $?"
echo input | viv run -- cat
viv run -- missing-command 2>/dev/null; echo "status $?"
viv run -d --name kid -- sh -c 'echo started; sleep 1000'
viv exec kid -- sh -c 'exit 7'; echo "status $?"
echo data >/tmp/f && viv cp /tmp/f kid:/tmp/g && viv cp kid:/tmp/g /tmp/h && cat /tmp/h
viv logs kid
viv snapshot kid one; viv diff kid | grep -c /tmp/g
viv ps -q | wc -l
viv run -d --name second -- sh -c 'exit 5' >/dev/null; viv wait second
viv inspect kid | grep -c -e '"parent"' -e '"pid"' -e '"mounts"'
viv tree | grep -c running
viv token ls 2>&1 | grep -c 'does not work in a cell'
viv events --since 0 --no-follow | grep -c 'cell.created'
viv rm -f kid second >/dev/null; viv ls -q | wc -l
END
	viv --quiet --policy rules.policy --mount "$PWD:/here:ro" -- sh /here/script >out 2>err
	is "$(cat out)" $'out\nstatus 3\ninput\nstatus 127\nkid\nstatus 7\ndata\nstarted\none\n1\n2\n5\n1\n2\n1\n3\n1'
	is "$(cat err)" err
	# Without a rule there is neither a program nor a way; with one that allows other images only, no cell.
	exits 1 viv --quiet -- sh -c 'ls /run/viv/bin/viv 2>/dev/null || exit 1'
	rules 'allow cells debian'
	exits 125 viv --quiet --policy rules.policy -- viv run -- true
	like "$(cat err)" "*do not allow another cell of image 'host'*"
}
check 'viv inside a cell @r' verbs

tree() {
	own_vivd
	rules 'allow cells host'
	parent mum
	in_cell mum -- viv run -d --name kid -- sleep 1000 >/dev/null
	is "$(v tree | awk '{print $1}' | paste -sd ' ')" "CELL mum kid.$(id_of mum | cut -c 1-16)"
	is "$(v tree --json mum | python3 -c 'import json,sys; t=json.load(sys.stdin)[0]; print(t["name"], t["state"], t["use"]["tasks"] > 0, [k["state"] for k in t["children"]])')" \
		"mum running True ['running']"
	is "$(api "/v1/cells/kid.$(id_of mum | cut -c 1-16)" | field parent)" "$(id_of mum)"
	is "$(children mum)" 1
	# Names are each family's own: nobody learns of others'.
	parent other
	is "$(made other '{"name": "kid"}')" 201
	is "$(made other '{"name": "mum"}')" 201
	is "$(made other '{"name": "mum"}')" 409
}
check 'the tree of a family, and its names' tree

foreign() {
	own_vivd
	rules 'allow cells host'
	parent mum
	parent other
	in_cell other -- viv run -d --name cousin -- sleep 1000 >/dev/null
	in_cell mum -- viv run -d --name kid -- sleep 1000 >/dev/null
	cousin=$(id_of "cousin.$(id_of other | cut -c 1-16)") mum=$(id_of mum)
	api /v1/openapi.json >openapi.json
	v cp openapi.json mum:/tmp/openapi.json
	# Its parent's routes with itself, others by id, by the beginning of an id and by name: as if they were not there.
	like "$(py mum refused /tmp/openapi.json "$mum" "$(id_of other)" other "$cousin" "${cousin:0:8}" cousin "cousin.$(id_of other | cut -c 1-16)")" 'refused *'
	# A child has nothing of its parent, its siblings and itself either.
	kid=$(id_of "kid.${mum:0:16}")
	in_cell mum -- viv run -d --name twin -- sleep 1000 >/dev/null
	v cp "$E2E_DIR/subcells.py" "$kid:/tmp/subcells.py"
	v cp openapi.json "$kid:/tmp/openapi.json"
	rules 'allow cells host' && like "$(v exec "$kid" -- sh -c 'ls /run/viv/sock 2>&1')" '*No such file*'
	is "$(made mum '{"name": "third", "policy": ["allow cells host"], "start": true}')" 201
	third=$(id_of "third.${mum:0:16}")
	v cp "$E2E_DIR/subcells.py" "$third:/tmp/subcells.py"
	v cp openapi.json "$third:/tmp/openapi.json"
	like "$(v exec "$third" -- python3 /tmp/subcells.py refused /tmp/openapi.json "$third" "$mum" mum "$kid" twin "kid.${mum:0:16}" "$cousin")" 'refused *'
	# Lists and events are the family's.
	py mum call GET /v1/cells >cells.json
	py mum call GET '/v1/events?since=0&follow=0' >events.json
	fails grep -e "$cousin" -e '"other"' cells.json
	fails grep -e "\"cell\":\"$cousin\"" events.json
	is "$(v exec "$third" -- python3 /tmp/subcells.py call GET /v1/cells | grep -o '"id"' | wc -l)" 1
	# A token that it found is not taken, and neither is the owner's socket to be had by its path.
	token=$(v token create --scope admin 2>/dev/null | tail -n 1)
	like "$(py mum call GET /v1/tokens '' "Authorization: Bearer $token" 2>&1 || true)" '*'
	is "$(v exec mum -- python3 -c "
import sys; sys.argv=['x','none']; sys.path.insert(0,'/e2e'); import subcells as s
print(s.call('GET','/v1/tokens',None,['Authorization: Bearer $token'])[0], s.call('GET','/v1/cells',None,['Authorization: Bearer $token'])[0])")" '401 401'
	exits 1 v exec mum -- python3 -c "
import socket; s=socket.socket(socket.AF_UNIX); s.connect('$sock')"
	# A descriptor cannot be passed through the door.
	exits 0 v exec mum -- python3 -c "
import socket, errno
s=socket.socket(socket.AF_UNIX); s.connect('/run/viv/sock')
try: socket.send_fds(s,[b'GET'],[0])
except OSError as e: assert e.errno == errno.EOPNOTSUPP
else: raise SystemExit(1)"
}
check 'other families do not exist' foreign

more() {
	own_vivd
	rules 'allow cells host' 'deny files /etc/shadow read'
	v tool add t --command /bin/true --schema <(echo '{"type": "object"}') >/dev/null
	parent mum --memory 512M
	# Whatever reaches the host, or that the parent has not.
	for s in '"mounts": [{"source": "/", "target": "/host"}]' '"mounts": [{"source": "/etc", "target": "/x"}]' '"mounts": [{"source": "/e2e/..", "target": "/x"}]' \
		'"ports": ["0:80"]' '"update": true, "name": "x"' '"s3_endpoint": "http://127.0.0.1"' \
		'"add_host": ["x:127.0.0.1"]' '"dns": ["127.0.0.1"]' '"secrets": ["s"]' '"tools": ["t"]' '"mounts": [{"volume": "v", "target": "/x"}]' \
		'"mounts": [{"source": "/e2e", "target": "/e2e/../x"}]' '"mounts": [{"source": "/e2e", "target": "//x"}]' '"mounts": [{"tmpfs": true, "target": "/e2e/.."}]' \
		'"image": "3fa9"' '"image": "sha256:3fa9"'; do
		status=$(made mum "{$s}")
		[[ $status == 4?? ]] || { echo "$s: $status"; return 1; }
	done
	children_are mum 0
	# What it has, it can share: read-only, as it is.
	for mode in ro rw; do in_cell mum -- viv run --mount "/e2e:/there:$mode" -- sh -c 'test -f /there/subcells.py && ! touch /there/x 2>/dev/null'; done
	[[ ! -e $E2E_DIR/x ]]
	is "$(made mum '{"image": "debian"}')" 403
	is "$(made mum '{"limits": {"memory": 1073741824}}')" 403
	is "$(made mum '{"policy": ["within"]}')" 400
	# A later allow of the child's, and what its own children would have.
	is "$(made mum '{"name": "kid", "start": true, "policy": ["allow net *", "allow files /etc/shadow read", "allow tools t", "allow cells debian max=100 depth=9"]}')" 201
	kid=kid.$(id_of mum | cut -c 1-16)
	exits 0 v exec "$kid" -- sh -c '! cat /etc/shadow && ! viv-tools t 2>/dev/null'
	exits 1 v policy check --connect https://example.org/ "$kid"
	# Answers that are kept would be outside of every budget.
	for i in 1 2 3; do py mum call POST /v1/cells '{"image": "none"}' "Idempotency-Key: k$i" >/dev/null; done
	is "$(python3 -c 'import sqlite3,sys; print(sqlite3.connect(sys.argv[1]).execute("SELECT count(*) FROM keys").fetchone()[0])' "$(find "$XDG_STATE_HOME" -name state.db)")" 0
	# Changes of the parent's rules are its children's at once.
	exits 0 v exec "$kid" -- cat /etc/hostname
	rules 'deny cells *' 'deny files /etc/hostname read'
	v policy set mum rules.policy >/dev/null
	exits 1 v exec "$kid" -- cat /etc/hostname
	exits 0 v exec "$kid" -- cat /etc/passwd
	is "$(made mum '{}')" 404
	# Also those of a child that does not run, and of one that is slow to stop.
	v stop "$kid" >/dev/null
	rules 'allow cells host' 'deny files /etc/passwd read'
	v policy set mum rules.policy >/dev/null
	v start "$kid" >/dev/null
	exits 1 v exec "$kid" -- cat /etc/passwd
	is "$(made mum '{"name": "slow", "start": true, "command": ["sh", "-c", "trap : TERM; echo ready; while :; do sleep 1000; done"]}')" 201
	slow=slow.$(id_of mum | cut -c 1-16)
	soon eval "[[ \$(v logs $slow) == ready ]]"
	is "$(py mum call POST /v1/cells/slow/stop '{"grace": 86400}' | head -c 3)" 200 &
	soon eval "[[ \$(api /v1/cells/$slow | field state) == stopping ]]"
	rules 'allow cells host' 'deny files /etc/group read'
	v policy set mum rules.policy >/dev/null
	soon eval "[[ \$(api /v1/cells/$slow | field state) == stopped ]]"
	wait $! || true
}
check 'a child asks for more than its parent has' more

is_asked() { [[ -n $(v approvals ls -q) ]]; }
ask() {
	own_vivd
	rules 'ask cells host'
	parent mum
	in_cell mum -- viv run -- echo hello >asked 2>&1 &
	soon is_asked
	like "$(v approvals ls)" '*make host*'
	v approvals allow "$(v approvals ls -q)" >/dev/null
	wait $!
	is "$(cat asked)" hello
	in_cell mum -- viv run -- echo hello >asked 2>&1 &
	soon is_asked
	v approvals deny "$(v approvals ls -q)" >/dev/null
	rc=0; wait $! || rc=$?
	is "$rc" 125
	# It sees its own questions, and cannot answer them; another cell sees none.
	parent other
	in_cell mum -- viv run -- echo hello >asked 2>&1 &
	soon is_asked
	n=$(v approvals ls -q)
	is "$(in_cell mum -- viv approvals ls -q)" "$n"
	is "$(in_cell other -- viv approvals ls -q)" ''
	is "$(py other call GET "/v1/approvals/$n" | head -c 3)" 404
	is "$(py mum call POST "/v1/approvals/$n" '{"answer": "allow"}' | head -c 3)" 404
	exits 2 v exec mum -- viv approvals allow "$n"
	v approvals deny "$n" >/dev/null
	wait $! || true
	# Nobody is asked on behalf of a client that has left.
	like "$(py mum leave 40)" 'left 40 200'
	soon fails is_asked
}
check 'a rule that asks' ask

budget() {
	own_vivd
	rules 'allow cells host max=6 depth=2'
	parent mum --memory 512M --pids 400 --disk-size 1G
	limit() { api "/v1/cells/$1.$(id_of mum | cut -c 1-16)" | python3 -c 'import json,sys; print(json.load(sys.stdin)["spec"]["limits"].get("'"$2"'"))'; }
	left() { api /v1/cells/mum/stats | field memory_limit; }
	left_is() { [[ $(left) == "$1" ]]; }
	is "$(left)" $((512 << 20))
	is "$(made mum '{"name": "a", "start": true, "limits": {"memory": 134217728}}')" 201
	is "$(left)" $((384 << 20))
	is "$(made mum '{"name": "b", "start": true}')" 201
	is "$(limit b memory)" $(((380 << 20) / 2))
	[[ $(limit b pids) -gt 0 && $(limit b disk) -gt 0 ]]
	# More than is left, at once and one after the other.
	is "$(made mum '{"limits": {"memory": 268435456}}')" 409
	is "$(made mum '{"limits": {"pids": 400}}')" 409
	# What ends gives it back; files of one with a name stay taken.
	in_cell mum -- viv stop -t 0 b >/dev/null
	soon left_is $((384 << 20))
	is "$(made mum '{"name": "c", "start": true, "limits": {"memory": 268435456}}')" 201
	is "$(py mum call POST /v1/cells/b/start | head -c 3)" 409
	in_cell mum -- viv rm -f c >/dev/null
	# vivd, a keeper and a kernel are killed: what the dead had is there again, and nothing twice.
	a=a.$(id_of mum | cut -c 1-16) kernel=$(kernel_of "a.$(id_of mum | cut -c 1-16)")
	kill -9 "$(pid_of)" "$kernel"
	v ls >/dev/null
	soon fails state_is "$a" running
	is "$(made mum '{"name": "d", "start": true, "limits": {"memory": 402653184}}')" 201
	is "$(left)" $((128 << 20))
	is "$(made mum '{"limits": {"memory": 134217728}}')" 409
	# What a cell may have at once of the network is shared as well; bytes over time are each cell's own.
	parent wired --max-connections 9 --max-net-rate 65536 --max-net-out 1000
	is "$(made wired '{"name": "a", "start": true, "max_connections": 4}')" 201
	is "$(api "/v1/cells/a.$(id_of wired | cut -c 1-16)" | python3 -c 'import json,sys; s=json.load(sys.stdin)["spec"]; print(s["max_connections"], s["max_net_rate"], s["max_net_out"])')" '4 32256 1000'
	is "$(reserved wired max_connections) $(reserved wired max_net_rate)" '4 32256'
	is "$(made wired '{"max_connections": 5}')" 409
	is "$(made wired '{"max_connections": 10}')" 403
	in_cell wired -- viv rm -f a >/dev/null
	is "$(made wired '{"max_connections": 8}')" 201
	# Of many at once there are six, whatever they are called; depth is counted as well.
	in_cell mum -- viv rm -f a b d >/dev/null
	like "$(py mum bomb 40)" 'made 6 of 40 201 403*'
	children_are mum 6
	in_cell mum -- sh -c 'viv rm -f $(viv ls -q | grep -v "^$HOSTNAME") >/dev/null 2>&1 || true'
}
check 'budget: taken once, given back, bounded' budget

deep() {
	own_vivd
	rules 'allow cells host depth=2'
	parent mum
	is "$(in_cell mum -- sh -c "viv run --allow x.invalid -- true; echo '{\"policy\": [\"allow cells host depth=9\"], \"name\": \"kid\", \"start\": true}' >/tmp/j")" ''
	is "$(made mum '{"policy": ["allow cells host depth=9"], "name": "kid", "start": true}')" 201
	kid=kid.$(id_of mum | cut -c 1-16)
	is "$(v exec "$kid" -- viv run -- echo grandchild)" grandchild
	v exec "$kid" -- viv run -d --name x -- sleep 1000 >/dev/null
	# The grandmother has it too, by its id.
	x=$(id_of "x.$(id_of "$kid" | cut -c 1-16)")
	is "$(in_cell mum -- viv exec "$x" -- echo below)" below
	is "$(v exec mum -- viv tree | awk '{print $1}' | paste -sd ' ' | cut -d ' ' -f 2-)" "mum kid x"
	# Their end is that of the first one.
	v rm -f mum >/dev/null
	soon no_cell "$x"
	soon no_cell "$kid"
}
check 'three generations' deep

# MiB, rounded down, and a few for directories and logs.
reserved_is() { (($(reserved "$1" disk) >> 20 >= $2 && $(reserved "$1" disk) >> 20 <= $2 + 3)) || { reserved "$1" disk && return 1; }; }
status() { head -c 3; }
snapshots() {
	own_vivd
	rules 'allow cells host max=6'
	parent mum --disk-size 400M
	tag=$(id_of mum | cut -c 1-16)
	is "$(made mum '{"name": "kid", "start": true, "limits": {"disk": 104857600}}')" 201
	reserved_is mum 100
	fill() { v exec "$1" -- sh -c "rm -f /root/x; head -c ${2}000000 /dev/urandom >/root/x; echo $2 >/root/size; sync"; }
	# What was sealed counts, whatever the cell has removed since; and the cell's limit stays its own.
	fill "kid.$tag" 42
	is "$(in_cell mum -- viv snapshot kid one)" one
	reserved_is mum 140
	fill "kid.$tag" 43
	is "$(in_cell mum -- viv snapshot kid)" s1
	reserved_is mum 181
	is "$(in_cell mum -- viv snapshot --ls kid | paste -sd ' ')" 'one s1'
	is "$(in_cell mum -- viv diff kid@one kid@s1 | paste -sd ' ')" 'C /root/size C /root/x'
	# A storm: one after the other, and no more than a cell can have.
	is "$(py mum storm kid 40)" 'made 30 of 40 201 409 busy'
	in_cell mum -- sh -c 'for s in $(viv snapshot --ls kid | grep storm); do viv snapshot --rm kid "$s"; done'
	fill "kid.$tag" 44
	is "$(py mum call POST /v1/cells/kid/snapshots '{"name": "last"}' | status)" 201
	for n in 45 46; do
		fill "kid.$tag" "$n"
		in_cell mum -- viv snapshot kid >/dev/null
	done
	fill "kid.$tag" 47
	is "$(py mum call POST /v1/cells/kid/snapshots | status)" 409
	(($(reserved mum disk) <= 400 << 20))
	# The same after vivd was killed: it is counted, not remembered.
	before=$(reserved mum disk)
	kill -9 "$(pid_of)"
	v ls >/dev/null
	is "$(reserved mum disk)" "$before"
	is "$(py mum call POST /v1/cells/kid/snapshots | status)" 409
	# What is removed is there again when the cell does not run, but for what its files stand on.
	in_cell mum -- viv stop -t 0 kid >/dev/null
	for s in $(in_cell mum -- viv snapshot --ls kid); do in_cell mum -- viv snapshot --rm kid "$s"; done
	soon eval '(( $(reserved mum disk) >> 20 < 150 ))'
	in_cell mum -- viv start kid >/dev/null
	# Set back, in a cell that runs and in one that does not.
	fill "kid.$tag" 11
	in_cell mum -- viv snapshot kid eleven >/dev/null
	fill "kid.$tag" 12
	in_cell mum -- viv rollback -t 0 kid eleven
	is "$(in_cell mum -- viv exec kid -- cat /root/size)" 11
	in_cell mum -- viv rename kid child 2>err && return 1
	in_cell mum -- viv stop -t 0 kid >/dev/null
	in_cell mum -- viv rename kid child >/dev/null
	is "$(in_cell mum -- viv inspect child | field name)" child
	is "$(api "/v1/cells/child.$tag" | field name)" "child.$tag"
}
check 'snapshots of a child count against the budget' snapshots

forks() {
	own_vivd
	rules 'allow cells host max=4' 'deny files /etc/shadow read'
	parent mum --disk-size 400M --memory 512M
	tag=$(id_of mum | cut -c 1-16)
	is "$(made mum '{"name": "kid", "start": true, "env": {"A": "b"}, "limits": {"disk": 83886080, "memory": 67108864}}')" 201
	v exec "kid.$tag" -- sh -c 'head -c 30000000 /dev/urandom >/root/x; sync'
	in_cell mum -- viv fork kid twin >/dev/null
	in_cell mum -- viv snapshot kid s >/dev/null
	# A child of the same parent, with the parent's rights as they are now, and limits of its own.
	is "$(api "/v1/cells/twin.$tag" | field parent)" "$(id_of mum)"
	is "$(api "/v1/cells/twin.$tag" | python3 -c 'import json,sys; c=json.load(sys.stdin); print(c["spec"]["limits"]["disk"], c["spec"]["limits"]["memory"], c["spec"].get("env"), c["spec"]["policy"][1])')" \
		'83886080 67108864 None deny files /etc/shadow read'
	reserved_is mum $((80 + 80 + 28))
	in_cell mum -- viv start twin >/dev/null
	is "$(in_cell mum -- viv exec twin -- sh -c 'wc -c </root/x; cat /etc/shadow 2>/dev/null || echo no')" $'30000000\nno'
	# What the removed one leaves to its fork stays taken; what nobody has is there again.
	in_cell mum -- viv rm -f kid >/dev/null
	reserved_is mum $((80 + 28))
	in_cell mum -- viv fork twin third >/dev/null
	in_cell mum -- viv rm -f twin third >/dev/null
	is "$(reserved mum disk)" 0
	# Around the budget and the number: a fork takes as a new cell does.
	is "$(made mum '{"name": "big", "start": true, "limits": {"disk": 314572800}}')" 201
	is "$(py mum call POST /v1/cells/big/fork '{"name": "more"}' | status)" 409
	in_cell mum -- viv stop -t 0 big >/dev/null
	is "$(py mum call POST /v1/cells/big/fork '{"name": "more"}' | status)" 409
	in_cell mum -- viv rm big >/dev/null
	is "$(made mum '{"name": "a", "limits": {"disk": 4194304}}')" 201
	like "$(py mum forks a 12)" 'made 3 of 12 201 403 busy'
	children_are mum 4
	is "$(py mum call POST /v1/cells/a/fork '{"name": "b", "snapshot": "none"}' | status)" 403
	is "$(py mum call POST /v1/cells/a/fork '{"name": "../b"}' | status)" 400
	is "$(py mum call POST /v1/cells/a/fork '{"name": "f0", "snapshot": "none"}' | status)" 403
	# The grandmother's fork of a grandchild is its sibling; a parent that has stopped gives nothing.
	in_cell mum -- viv rm -f f0 f1 f2 f3 f4 f5 f6 f7 f8 f9 f10 f11 >/dev/null 2>&1 || true
	is "$(made mum '{"name": "low", "start": true, "policy": ["allow cells host"], "limits": {"disk": 83886080}}')" 201
	low=low.$tag
	v exec "$low" -- viv run -d --name x -- sleep 1000 >/dev/null
	x=$(id_of "x.$(id_of "$low" | cut -c 1-16)")
	in_cell mum -- viv fork "$x" y >/dev/null
	is "$(api "/v1/cells/y.$(id_of "$low" | cut -c 1-16)" | field parent)" "$(id_of "$low")"
	in_cell mum -- viv stop -t 0 low >/dev/null
	is "$(py mum call POST "/v1/cells/$x/fork" '{"name": "z"}' | status)" 409
}
check 'forks of a child are its siblings, within the budget' forks

agents() {
	own_vivd
	export XDG_CONFIG_HOME=$PWD/config
	mkdir -p config/vivarium/agents
	printf 'name: helper\nimage: host\nacp: [python3, /e2e/acpagent.py]\nnetwork: [allow net needed.example]\nsecrets: [{name: HELPER_KEY}]\nfiles: {~/x: y}\n' >config/vivarium/agents/helper.yaml
	printf 'name: foreign\nimage: elsewhere\nacp: [python3]\n' >config/vivarium/agents/foreign.yaml
	printf 'name: broken\nimage: host\nacp: 7\n' >config/vivarium/agents/broken.yaml
	rules 'allow cells host'
	parent mum
	parent other
	in_cell other -- viv run -d --name cousin --mount /e2e:/e2e:ro -- sleep 1000 >/dev/null
	hers=$(in_cell other -- viv session new cousin -- python3 /e2e/acpagent.py)
	in_cell other -- viv session prompt cousin 'say cousinword' >/dev/null
	# A session in a child: prompted, watched, listed, searched, cancelled, closed.
	in_cell mum -- viv run -d --name kid --mount /e2e:/e2e:ro -- sleep 1000 >/dev/null
	s=$(in_cell mum -- viv session new kid -- python3 /e2e/acpagent.py)
	like "$(in_cell mum -- viv session prompt kid 'say kidword')" '*kidword*'
	is "$(in_cell mum -- viv session ls -q)" "$s"
	like "$(in_cell mum -- viv transcript "$s")" '*kidword*'
	like "$(in_cell mum -- viv transcript search kidword)" "*$s*"
	like "$(in_cell mum -- viv session events "$s" --json)" "*\"by\":\"$(id_of mum)\"*"
	in_cell mum -- viv session prompt --no-wait kid 'until_cancel' >/dev/null
	in_cell mum -- viv session cancel kid >/dev/null
	# What the agent asks is the operator's to answer: the cell sees it, and that is all.
	in_cell mum -- viv session prompt --no-wait kid 'ask' >/dev/null
	soon is_asked
	n=$(v approvals ls -q)
	is "$(in_cell mum -- viv approvals ls -q)" "$n"
	is "$(in_cell other -- viv approvals ls -q)" ''
	is "$(py mum call POST "/v1/approvals/$n" '{"answer": "allow"}' | status)" 404
	v approvals deny "$n" >/dev/null
	# Others' sessions, by every name; and none in itself.
	is "$(py mum sessions "$(id_of mum)" "$(id_of "cousin.$(id_of other | cut -c 1-16)")" "$hers" kid)" none
	is "$(v exec other -- viv session ls -q)" "$hers"
	# Not more than a family can have, whichever of its cells has them.
	in_cell mum -- viv run -d --name two -- sleep 1000 >/dev/null
	is "$(py mum many kid 70 two)" 'made 63 of 70 201 409 never busy'
	# Known agents: those whose image its rules allow, with what it has of what they need.
	is "$(in_cell mum -- viv agent ls -q)" helper
	is "$(in_cell mum -- viv agent show helper --json | python3 -c 'import json,sys; a=json.load(sys.stdin); print(a["source"], a["lacks"], "files" in a, "acp" in a)')" \
		"operator {'hosts': ['needed.example'], 'secrets': ['HELPER_KEY']} False False"
	for a in foreign broken none ..%2fhelper; do is "$(py mum call GET "/v1/agents/$a" | status)" 404; done
	in_cell mum -- sh -c 'viv session rm $(viv session ls -q) >/dev/null'
	is "$(py mum call POST /v1/cells/kid/sessions '{"agent": "foreign"}' | status)" 404
	is "$(py mum call POST /v1/cells/kid/sessions '{"agent": "broken"}' | status)" 404
	exits 3 v exec mum -- viv agent run helper --mount /e2e:/e2e:ro 'say hello' </dev/null
	like "$(cat err)" '*this cell has no secret HELPER_KEY*'
	exits 0 v exec mum -- viv agent run --rm --no-secrets helper --mount /e2e:/e2e:ro 'say hello' </dev/null
	like "$(cat out)" '*hello*'
	like "$(cat err)" '*do not allow what the agent*needed.example*'
	exits 2 v exec mum -- viv agent run --no-secrets --on-copy helper x </dev/null
	# With the parent's end they end, and with its removal they go.
	in_cell mum -- viv session new kid -- python3 /e2e/acpagent.py >/dev/null
	v rm -f mum >/dev/null
	soon eval '[[ $(v session ls --all -q) == "$hers" ]]'
}
check 'agents and their sessions in children' agents

project() {
	own_vivd
	export XDG_CONFIG_HOME=$PWD/config
	mkdir -p config/vivarium/agents
	printf 'name: helper\nimage: host\nacp: [python3, /e2e/acpagent.py]\nsecrets: [{name: HELPER_KEY}]\n' >config/vivarium/agents/helper.yaml
	printf 'name: foreign\nimage: elsewhere\nacp: [python3]\n' >config/vivarium/agents/foreign.yaml
	rules 'allow cells host' 'deny files /etc/shadow read'
	parent mum --memory 512M
	parent other
	tag=$(id_of mum | cut -c 1-16)
	# The host, and another family, have a project of the same name.
	printf 'name: p\ncells:\n  a: {command: [sleep, "1000"]}\n' >vivarium.yaml
	v up >/dev/null
	v cp vivarium.yaml other:/root/vivarium.yaml
	v exec --workdir /root other -- viv up >/dev/null
	write() { v exec -i mum -- sh -c 'cat >/root/vivarium.yaml'; }
	up() { v exec --workdir /root mum -- viv up "$@"; }
	down() { v exec --workdir /root mum -- viv down "$@"; }
	write <<-'END'
		name: p
		cells:
		  a:
		    command: [sh, -c, 'cat /etc/greeting; sleep 1000']
		    limits: {memory: 64M}
		    policy: [allow files /etc/shadow read]
		    files: [{path: /etc/greeting, content: hello}]
		    mounts: [{source: /e2e, target: /e2e, readonly: true}]
		  b:
		    command: ['true']
		    replicas: 2
		    depends_on: [a]
	END
	like "$(up --dry-run)" '*a *create*b-1 *create*'
	children_are mum 0
	up --wait >out
	is "$(v exec mum -- viv ls -q --all | sort | paste -sd ' ')" 'a b-1 b-2 mum'
	soon eval "[[ \$(v logs a.$tag) == hello ]]"
	exits 1 v exec "a.$tag" -- cat /etc/shadow
	exits 0 v exec "a.$tag" -- test -f /e2e/subcells.py
	is "$(api "/v1/cells/a.$tag" | python3 -c 'import json,sys; c=json.load(sys.stdin); print(c["parent"], c["spec"]["policy"][1], c["spec"]["mounts"][0]["readonly"])')" \
		"$(id_of mum) deny files /etc/shadow read True"
	like "$(up)" '*nothing to do*'
	# What has changed is made anew, if that is asked for; nothing else changes a child.
	before=$(id_of "a.$tag")
	v exec mum -- sed -i 's/hello/changed/' /root/vivarium.yaml
	exits 5 up
	is "$(id_of "a.$tag")" "$before"
	up --recreate >/dev/null
	soon eval "[[ \$(v logs a.$tag) == changed ]]"
	is "$(api "/v1/cells/a.$tag" | python3 -c 'import json,sys; print(json.load(sys.stdin)["spec"]["policy"][1])')" 'deny files /etc/shadow read'
	# Others' projects of that name do not exist for it, nor do its own for them.
	is "$(py mum call GET /v1/projects | grep -o '"name":"[^"]*"' | sort | paste -sd ' ')" '"name":"a" "name":"b-1" "name":"b-2" "name":"p"'
	is "$(api /v1/projects | grep -o '"name": *"[^"]*"' | wc -l)" 2
	host=$(id_of a) cousin=$(id_of "a.$(id_of other | cut -c 1-16)")
	v up --remove-orphans >/dev/null
	is "$(children mum) $(children other)" '3 1'
	down >/dev/null
	children_are mum 0
	is "$(id_of a) $(id_of "a.$(id_of other | cut -c 1-16)")" "$host $cousin"
	v down >/dev/null
	is "$(id_of "a.$(id_of other | cut -c 1-16)")" "$cousin"
	# What is the host's, and what the cell has not: said before anything is done.
	refuses() { # text of the cell, what is said
		printf 'name: q\ncells:\n  first: {command: [sleep, "1000"]}\n  x: %s\n' "$1" | write
		try up
		[[ $rc != 0 ]] || { echo "$1 is taken" && return 1; }
		like "$(cat err)" "$2"
		children_are mum 0
	}
	refuses '{command: ["true"], ports: ["0:80"]}' "*cell 'x'*cannot have 'ports'*"
	refuses '{command: ["true"], mounts: [{source: /etc, target: /x}]}' "*cell 'x'*among its own files*"
	refuses '{command: ["true"], mounts: [{source: /, target: /x}]}' "*cell 'x'*"
	refuses '{command: ["true"], secrets: [s]}' "*cell 'x'*has no 's'*"
	refuses '{command: ["true"], files: [{path: /x, from: /etc/shadow}]}' '*reads no files of a cell*'
	refuses '{agent: helper, prompt_file: /etc/passwd}' '*reads no files of a cell*'
	refuses '{agent: helper, prompt: x}' '*HELPER_KEY*'
	refuses '{agent: foreign, prompt: x}' "*no agent 'foreign'*"
	refuses '{image: elsewhere, command: ["true"]}' "*cell 'x'*do not allow a cell of image 'elsewhere'*"
	printf 'name: q\ncells: {x: {command: ["true"]}}\nvolumes: {v: {}}\n' | write
	exits 4 up
	like "$(cat err)" '*cannot make volumes*'
	exits 4 down --volumes
	# An agent of it is prompted once, and waited for.
	printf 'name: q\ncells:\n  x: {agent: helper, prompt: "say readyword", secrets: [], mounts: [{source: /e2e, target: /e2e}]}\n' | write
	up --wait >out
	like "$(v exec mum -- viv transcript search readyword)" '*readyword*'
	up >out
	is "$(v exec mum -- viv session ls -q | wc -l)" 1
	# With its parent it stops, and goes.
	v stop -t 0 mum >/dev/null
	soon state_is "x.$tag" stopped
	v rm mum >/dev/null
	soon no_cell "x.$tag"
}
check 'projects of a cell' project

mcp() {
	own_vivd
	rules 'allow cells host'
	parent mum --memory 512M
	parent other
	v exec -e "VIV_OTHER=$(id_of other)" mum -- python3 /e2e/mcp.py viv inside
	children_are mum 0
}
check 'viv mcp in a cell' mcp

mute() {
	own_vivd
	rules 'allow cells host'
	parent mum --disk-size 1G
	tag=$(id_of mum | cut -c 1-16)
	for i in 1 2 3 4; do is "$(made mum '{"name": "k'$i'", "start": true, "limits": {"disk": 33554432}}')" 201; done
	# Kernels that were broken into and never answer: vivd has threads for others, and waits for none without an end.
	for i in 1 2 3 4; do
		kernel[i]=$(kernel_of "k$i.$tag")
		kill -STOP "${kernel[i]}"
		at_end "kill -KILL ${kernel[i]} 2>/dev/null"
		py mum call POST "/v1/cells/k$i/$([[ $i == 4 ]] && echo fork || echo snapshots)" "{\"name\": \"s$i\"}" >"said.$i" &
		asking[i]=$!
	done
	# Four that are sealed, and one more cell.
	soon eval '[[ $(reserved mum disk) == $((8 * 33554432)) ]]'
	make_cell '{"name": "gone"}' >/dev/null
	v rm gone >/dev/null
	is "$(status_of /v1/system/df)" 200
	is "$(py mum call POST /v1/cells/k1/snapshots | status)" 409
	# Two of them at least are still waited for: had all four a thread, nothing of this were answered before the last of them.
	[[ -n $(find . -name 'said.?' -empty) ]]
	# The one that is not killed has its time, and what it may still seal stays taken until its end.
	for i in 2 3 4; do kill -KILL "${kernel[i]}"; done
	for i in 1 2 3 4; do wait "${asking[i]}"; done
	like "$(cat said.1)" '504 *no_answer*'
	in_cell mum -- viv rm -f s4 >/dev/null 2>&1 || true # it was made if its turn came after the end of the kernel
	soon eval '[[ $(reserved mum disk) -ge $((5 * 33554432)) && $(reserved mum disk) -lt $((6 * 33554432)) ]]'
	kill -KILL "${kernel[1]}"
	soon eval '[[ $(reserved mum disk) -lt $((5 * 33554432)) ]]'
}
check 'kernels that never seal hold no thread of vivd' mute

ends() {
	own_vivd
	rules 'allow cells host'
	parent mum
	in_cell mum -- viv run -d --name kid --restart always -- sleep 1000 >/dev/null
	kid=kid.$(id_of mum | cut -c 1-16)
	kernel=$(kernel_of "$kid")
	# A stopped parent's children are stopped, and stay so without it.
	v stop -t 0 mum >/dev/null
	soon gone "$kernel"
	soon state_is "$kid" stopped
	exits 5 v start "$kid"
	like "$(cat err)" '*made this one does not run*'
	v start mum >/dev/null
	in_cell mum -- viv start kid >/dev/null
	# A connection from before belonged to another run.
	kernel=$(kernel_of "$kid") keeper=$(ps -o ppid= -p "$(kernel_of mum)" | tr -d ' ')
	# Killed, with nobody there to see it.
	kill -9 "$(pid_of)"
	kill -9 "$keeper"
	soon gone "$kernel"
	v ls >/dev/null
	soon state_is "$kid" stopped
	v rm -f mum >/dev/null
	soon no_cell "$kid"
	# Also of those that do not run, when vivd is killed before they are removed.
	parent mum
	is "$(made mum '{"name": "new"}')" 201
	is "$(made mum '{"name": "asleep", "start": true}')" 201
	in_cell mum -- viv sleep asleep >/dev/null
	new=$(id_of "new.$(id_of mum | cut -c 1-16)") asleep=$(id_of "asleep.$(id_of mum | cut -c 1-16)")
	pid=$(pid_of)
	v rm -f mum >/dev/null
	kill -9 "$pid"
	v ls >/dev/null
	soon no_cell "$new"
	soon no_cell "$asleep"
}
check 'the end of a parent is that of its children' ends

hostile() {
	own_vivd
	rules 'allow cells host'
	parent mum --memory 512M
	like "$(py mum malformed 500 "${BAD_SEED:-1}")" 'sent *'
	is "$(status_of /v1/version)" 200
	# All connections that it can have, and requests without an end: others do not notice.
	mkfifo never
	v exec -i mum -- python3 /e2e/subcells.py hoard >hoard <never &
	exec 7>never
	soon grep -q held hoard
	is "$(status_of /v1/version)" 200
	exec 7>&-
	wait $!
	v exec -i mum -- python3 /e2e/subcells.py flood >flood <never &
	exec 7>never
	soon grep -q flooding flood
	for i in 1 2 3 4 5; do is "$(status_of /v1/cells)" 200; done
	is "$(viv --quiet -- echo works)" works
	exec 7>&-
	wait $!
	like "$(cat flood)" '*answered *'
	is "$(in_cell mum -- viv run -- echo still)" still
}
check 'malformed HTTP, hoarded connections, a flood' hostile

# Of several families at once, since each has its rate.
fuzzed() {
	local n=${BAD_REQUESTS:-10000} pid i jobs=()
	own_vivd
	rules 'allow cells host'
	parent zqdecoy
	is "$(made zqdecoy '{"name": "zqcousin"}')" 201
	decoys=(zqdecoy zqcousin "$(id_of zqdecoy)" "$(id_of "zqcousin.$(id_of zqdecoy | cut -c 1-16)")")
	api /v1/openapi.json >openapi.json
	pid=$(pid_of)
	for i in 1 2 3 4 5 6 7 8; do
		parent "p$i"
		v cp openapi.json "p$i:/tmp/openapi.json"
		v exec "p$i" -- python3 /e2e/doorfuzz.py /tmp/openapi.json $((n / 8)) $((${BAD_SEED:-1} * 8 + i)) "${decoys[@]}" >"fuzzed.$i" 2>&1 &
		jobs+=($!)
	done
	for i in 1 2 3 4 5 6 7 8; do
		wait "${jobs[i - 1]}" || { cat "fuzzed.$i"; return 1; }
		like "$(cat "fuzzed.$i")" 'sent *'
	done
	is "$(pid_of)" "$pid"
	is "$(api /v1/cells/zqdecoy | field state)" running
}
check 'malformed requests to every route that cells have' fuzzed

# Children that hold all connections that they can have get no more together than the bound, and their parent goes on.
crowd() {
	own_vivd
	rules 'allow cells host'
	parent mum
	for i in 1 2 3; do
		is "$(made mum '{"name": "kid'$i'", "start": true, "policy": ["allow cells host"], "mounts": [{"source": "/e2e", "target": "/e2e", "readonly": true}]}')" 201
	done
	fds() { find "/proc/$(pid_of)/fd" -maxdepth 1 -lname 'socket:*' | wc -l; }
	before=$(fds)
	mkfifo never
	for i in 1 2 3; do v exec -i "kid$i.$(id_of mum | cut -c 1-16)" -- python3 /e2e/subcells.py hoard >"hoard.$i" <never & done
	exec 7>never
	for i in 1 2 3; do soon grep -q held "hoard.$i"; done
	is "$(in_cell mum -- viv ls -q | wc -l)" 4
	n=$(($(fds) - before))
	((n > 48 && n < 120)) || { echo "$n connections"; return 1; }
	exec 7>&-
	wait
}
check 'children together have bounds, and their parent has its own' crowd

# Of all that happened the cell gets less than one answer for each of somebody else's.
events_flood() {
	own_vivd
	rules 'allow cells host'
	parent mum
	id=$(id_of mum)
	v daemon stop >/dev/null
	python3 - "$(find "$XDG_STATE_HOME" -name state.db)" "$id" <<-'EOF'
	import sqlite3, sys
	db = sqlite3.connect(sys.argv[1])
	db.executemany("INSERT INTO events(time,type,cell,data) VALUES(?,'cell.state',?,'{}')", ((i + 1, sys.argv[2]) for i in range(9000)))
	db.commit()
	EOF
	v ls >/dev/null
	mkfifo never
	v exec -i mum -- python3 /e2e/subcells.py streams >streams <never &
	exec 7>never
	soon grep -q reading streams
	for ((i = 0; i < 30; i++)); do is "$(status_of /v1/version)" 200; done
	exec 7>&-
	wait $!
	n=$(sed -n 's/^read //p' streams)
	((n < 30)) || { echo "$n"; return 1; }
}
check 'a cell reads events as fast as it can' events_flood

ended_are() { (($(api /v1/cells | python3 -c 'import json,sys; print(sum(c["state"] in ("failed", "completed") for c in json.load(sys.stdin)["cells"]))') <= $1)); }
memory() {
	own_vivd
	rules 'allow cells host'
	parent mum
	is "$(py mum unread)" 'unread 45'
	v rm -f mum >/dev/null
	parent mum
	is "$(py mum ended 70)" 'ended 70'
	soon ended_are 32
	fails ended_are 30
}
check "a cell fills vivd's memory" memory
