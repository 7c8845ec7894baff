# Questions of cells whose rules say "ask", and their answers. shellcheck shell=bash
stop_vivd() { "$VIV" daemon stop; }

rules() { # lines...
	printf '%s\n' "$@" >rules.policy
}
open_now() { "$VIV" approvals ls -q | wc -l; }
# So many questions are open.
open_is() { [[ $(open_now) == "$1" ]]; }
member() { # id, name
	"$VIV" approvals show --json "$1" | python3 -c "import json, sys; print(json.load(sys.stdin).get('$2', ''))"
}
newest() { "$VIV" approvals ls -q | tail -n 1; }
# Starts a cell in the background; its output is in the file named first.
asker() { # file, options..., --, command...
	local to=$1
	shift
	viv --quiet --policy rules.policy "$@" >"$to" 2>&1 &
	cell=$!
}

answered() {
	at_end stop_vivd
	rules 'ask files /secret/** read' 'ask exec **/id' 'ask files /asked/**'
	asker out1 -- sh -c 'mkdir /secret; echo key >/secret/a; cat /secret/a; id >/dev/null; echo $?; cat /secret/a; echo $?'
	soon open_is 1
	id=$(newest)
	is "$(member "$id" scope) $(member "$id" action) $(member "$id" path) $(member "$id" program)" 'files open /secret/a /usr/bin/cat'
	is "$(member "$id" access)" "['read']"
	is "$(member "$id" rule)" 'ask files /secret/** read'
	is "$(member "$id" state)" pending
	[[ ! -s out1 ]]
	"$VIV" approvals allow "$id"
	soon grep -q key out1
	# The program: denied. Then the same file once more: asked once more.
	soon open_is 1
	is "$(member "$(newest)" scope) $(member "$(newest)" path)" 'exec /usr/bin/id'
	"$VIV" approvals deny "$(newest)"
	soon open_is 1
	"$VIV" approvals deny "$(newest)"
	wait "$cell"
	is "$(grep -v denied out1)" $'key\n126\n1'
	is "$(member "$id" state) $(member "$id" by)" 'allowed owner'
	# The first answer counts.
	exits 5 "$VIV" approvals deny "$id"
	like "$(cat err)" '*is allowed already*'
	exits 3 "$VIV" approvals allow 999999
	# One question for one call, whatever it needs.
	asker out2 -- sh -c 'mkdir /asked; echo x >/asked/file; mv /asked/file /asked/other; ls /asked'
	for _ in create rename; do
		soon open_is 1
		"$VIV" approvals allow "$(newest)"
	done
	wait "$cell"
	is "$(cat out2)" other
}
check 'a call waits until it is answered' answered

goes() {
	at_end stop_vivd
	rules 'ask files /secret/** read' 'ask exec **/id'
	# A signal that ends the process, one that is handled, and an end in the middle of the start of a program. Each waits for us.
	mkdir go
	asker out1 --mount "$PWD/go:/go:ro" -- sh -c 'mkdir /secret; echo key >/secret/a
		until_told() { until [ -e "/go/$1" ]; do sleep 0.05; done; }
		cat /secret/a & until_told 1; kill $!; wait $!; echo $?; until_told 2; id & until_told 3; kill $!; wait $!; echo $?'
	soon open_is 1
	first=$(newest)
	touch go/1
	soon grep -q 143 out1
	soon open_is 0
	is "$(member "$first" state)" withdrawn
	touch go/2
	soon open_is 1
	[[ $(newest) != "$first" ]]
	touch go/3
	wait "$cell"
	is "$(grep -v Terminated out1)" $'143\n143'
	soon open_is 0
	# EINTR for a handler without SA_RESTART; after one with it the question is the same.
	cat >t.py <<-'EOS'
		import os, signal, sys, threading, time
		os.mkdir("/secret"); open("/secret/a", "w").write("key")
		import ctypes
		libc = ctypes.CDLL(None, use_errno=True)
		for restart in True, False:
		    signal.signal(signal.SIGALRM, lambda *a: None)
		    signal.siginterrupt(signal.SIGALRM, not restart)
		    signal.setitimer(signal.ITIMER_REAL, 0.3, 0.3) # again and again: the first may come before the call
		    fd = libc.open(b"/secret/a", 0)
		    print(os.read(fd, 9) if fd >= 0 else ctypes.get_errno() == 4, flush=True)
	EOS
	asker out2 -- python3 -c "$(cat t.py)"
	soon open_is 1
	id=$(newest)
	sleep 1.5
	is "$(newest)" "$id" 'the question after a signal'
	"$VIV" approvals allow "$id"
	wait "$cell"
	is "$(cat out2)" $'b\'key\'\nTrue'
	soon open_is 0
	# A cell that ends withdraws all.
	asker out3 --mount "$PWD/go:/go:ro" -- sh -c 'mkdir /secret; echo key >/secret/a; cat /secret/a & until [ -e /go/4 ]; do sleep 0.05; done'
	soon open_is 1
	id=$(newest)
	touch go/4
	wait "$cell"
	soon open_is 0
	is "$(member "$id" state)" withdrawn
}
check 'a question goes with its call' goes

survives() {
	at_end stop_vivd
	rules 'ask files /secret/** read'
	asker out1 -- sh -c 'mkdir /secret; echo key >/secret/a; cat /secret/a'
	soon open_is 1
	id=$(newest)
	kill -9 "$("$VIV" daemon status --json | sed 's/.*"pid":\([0-9]*\).*/\1/')"
	soon open_is 1
	is "$(newest)" "$id"
	"$VIV" daemon restart
	is "$(newest)" "$id"
	"$VIV" approvals allow "$id"
	wait "$cell"
	is "$(cat out1)" key
	# A detached cell, and one whose question is answered while it is paused.
	at_end '"$VIV" rm -f asked'
	"$VIV" run -d --name asked --policy rules.policy -- sh -c 'mkdir /secret; echo key >/secret/a; cat /secret/a; sleep 100' >/dev/null
	soon open_is 1
	"$VIV" pause asked
	"$VIV" approvals allow "$(newest)"
	"$VIV" resume asked
	soon sh -c '[ "$('"$VIV"' logs asked)" = key ]'
}
check 'a restart of vivd loses no question' survives

hook() {
	at_end stop_vivd
	rules 'ask files /secret/** read'
	cat >hook <<-'EOS'
		#!/usr/bin/python3
		import json, sys, time
		q = json.loads(sys.stdin.readline())
		p = q["path"]
		if p.endswith("yes"): print('{"answer": "allow"}')
		elif p.endswith("no"): print('{"answer": "deny"}')
		elif p.endswith("fail"): print('{"answer": "allow"}'); sys.exit(1)
		elif p.endswith("long"): print('{"answer": "allow", "x": "' + "x" * 5000 + '"}')
		else: print("allow")
	EOS
	chmod +x hook
	"$VIV" daemon start --approval-hook "$PWD/hook"
	asker out1 -- sh -c 'mkdir /secret; cd /secret; for f in yes no fail long odd; do echo $f >$f; done
		cat yes; cat no; for f in fail long odd; do cat $f & done; wait'
	soon open_is 3
	sleep 1
	# What is no answer leaves the question to others.
	is "$(open_now)" 3
	is "$(grep -v denied out1)" yes
	"$VIV" approvals deny $("$VIV" approvals ls -q)
	wait "$cell"
	fails grep -qx -e fail -e long -e odd -e no out1
	is "$("$VIV" approvals ls --all --json | grep -o '"by": *"hook"' | wc -l)" 2
}
check 'a hook answers, and its failures are no answers' hook

bounds() {
	at_end stop_vivd
	rules 'ask files /secret/** read'
	cat >t.py <<-'EOS'
		import os, threading, errno, time
		os.mkdir("/secret")
		def parked(n):
		    # So many threads beside this one, and all of them wait: none runs, in three looks.
		    seen = 0
		    while seen < 3:
		        time.sleep(0.1)
		        try: states = [open(f"/proc/self/task/{t}/stat").read().rsplit(")", 1)[1].split()[0] for t in os.listdir("/proc/self/task") if int(t) != os.getpid()]
		        except OSError: continue
		        seen = seen + 1 if states == ["S"] * n else 0
		for i in range(100): open(f"/secret/{i}", "w").close()
		got = []
		def one(i):
		    try: open(f"/secret/{i}").close(); got.append(0)
		    except OSError as e: got.append(e.errno)
		# Many threads that ask the same share one question.
		same = [threading.Thread(target=one, args=(0,)) for i in range(50)]
		for t in same: t.start()
		parked(50)
		print("same wait", flush=True)
		for t in same: t.join()
		print(got.count(0), flush=True)
		got.clear()
		many = [threading.Thread(target=one, args=(i,)) for i in range(100)]
		for t in many: t.start()
		parked(64)
		print("many wait", flush=True)
		for t in many: t.join()
		print(got.count(errno.EACCES), got.count(0), flush=True)
	EOS
	asker out1 -- python3 -c "$(cat t.py)"
	soon grep -q 'same wait' out1
	is "$(open_now)" 1
	"$VIV" approvals allow "$(newest)"
	soon grep -q 'many wait' out1
	soon open_is 64
	"$VIV" approvals allow $("$VIV" approvals ls -q) >/dev/null
	wait "$cell" || { echo "the cell ended with $?" && cat out[12] && return 1; }
	is "$(cat out1)" $'same wait\n50\nmany wait\n36 64'
	# Who asks and goes away again and again is not asked about for ever.
	cat >t2.py <<-'EOS'
		import os, signal, time
		os.mkdir("/secret")
		for i in range(400): open(f"/secret/{i}", "w").close()
		denied = 0
		for i in range(0, 400, 20):
		    pids = []
		    for k in range(20):
		        pid = os.fork()
		        if pid == 0:
		            try: open(f"/secret/{i + k}")
		            except OSError: os._exit(7)
		            os._exit(0)
		        pids.append(pid)
		    # Each waits for an answer, or has ended.
		    seen = 0
		    while seen < 3:
		        time.sleep(0.05)
		        states = {open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()[0] for pid in pids}
		        seen = seen + 1 if states <= {"S", "Z"} else 0
		    for pid in pids:
		        os.kill(pid, signal.SIGKILL)
		        denied += os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 7
		print("denied" if denied > 100 else denied)
	EOS
	before=$("$VIV" approvals ls --all -q | wc -l)
	asker out2 -- python3 -c "$(cat t2.py)"
	wait "$cell" || { echo "the cell ended with $?" && cat out[12] && return 1; }
	is "$(cat out2)" denied
	# The minute may have changed once.
	soon open_is 0
	after=$("$VIV" approvals ls --all -q | wc -l)
	((after - before <= 256)) || { echo "$((after - before)) questions"; return 1; }
}
check 'questions are bounded' bounds

always() {
	at_end stop_vivd
	at_end '"$VIV" rm -f asked >/dev/null'
	rules 'ask files /secret/** read' 'ask exec **/id'
	before=$("$VIV" approvals ls --all -q | wc -l)
	"$VIV" run -d --name asked --policy rules.policy -- sh -c \
		'mkdir /secret; echo key >"/secret/a"; cat /secret/a; cat /secret/a; id -u; id -u; echo "odd" >"/secret/a b"; cat "/secret/a b"; sleep 100' >/dev/null
	soon open_is 1
	is "$("$VIV" approvals allow --always --json "$(newest)" | grep -o '"state": *"allowed"' | wc -l)" 1
	# The second time nobody asks.
	soon open_is 1
	is "$(member "$(newest)" scope)" exec
	"$VIV" approvals deny --always "$(newest)"
	soon open_is 1
	is "$(member "$(newest)" path)" '/secret/a b'
	exits 2 "$VIV" approvals allow --always "$(newest)"
	like "$(cat err)" '*no rule can say this*'
	"$VIV" approvals allow "$(newest)"
	soon sh -c "\"$VIV\" logs asked | grep -q odd"
	is "$("$VIV" logs asked 2>/dev/null | grep -v denied | xargs)" 'key key odd'
	is "$("$VIV" policy show asked | tail -n 2 | sort | xargs)" 'allow files /secret/a read deny exec /usr/bin/id'
	is "$(($("$VIV" approvals ls --all -q | wc -l) - before))" 3
	exits 2 "$VIV" approvals allow --always --once 1
}
check 'an answer can become a rule' always

# Rules that come while a cell runs.
live() {
	at_end stop_vivd
	at_end '"$VIV" rm -f live >/dev/null'
	"$VIV" run -d --name live -- sh -c 'mkdir /secret; echo key >/secret/a; exec sleep 1000' >/dev/null
	soon "$VIV" exec live test -s /secret/a
	"$VIV" policy add live deny files '/secret/**' read
	exits 1 "$VIV" exec live cat /secret/a
	rules 'ask files /secret/** read'
	"$VIV" policy set live rules.policy
	"$VIV" exec live cat /secret/a >out1 2>&1 &
	soon open_is 1
	# A rule that allows it answers who waits.
	printf '' | "$VIV" policy set live -
	wait $!
	is "$(cat out1)" key
	soon open_is 0
	"$VIV" exec live cat /secret/a
}
check 'rules change while calls wait' live
