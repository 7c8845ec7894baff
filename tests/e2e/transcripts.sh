# Sessions of agents from the command line: prompts, what is seen of them, questions at a terminal, transcripts, and programs that do the
# same. The agent is a script (acpagent.py). shellcheck shell=bash

started() { # options of the agent...: a cell c with a session S
	own_vivd
	v create --name c --mount "$E2E_DIR:/e2e:ro" >/dev/null
	S=$(v session new c -- python3 /e2e/acpagent.py "$@")
}
says() { # session, text
	v transcript "$1" | grep -qF "$2"
}
none_open() { [[ -z $(v session ls -q) ]]; }
state_is() { [[ $(v session show "$S" --json | field state) == "$1" ]]; }

verbs() {
	started --modes --models --options
	like "$S" 's_????????????????'
	is "$(v session prompt "$S" 'say one;' 'think two; tool Edit x; say three')" "$(printf 'one\ntwo\n• Edit x (edit) ✓\nthree\n(tokens: 3 in, 4 out)')"
	is "$(printf 'say from a pipe' | v session prompt c - | head -n 1)" 'from a pipe'
	is "$(v session prompt "${S:0:8}" --json 'say x' | tail -n 1 | field data.stop_reason)" end_turn
	exits 1 v session prompt c 'error of a kind'
	like "$(cat out)" "*error: *of a kind*the turn ended: error*"
	is "$(v session prompt c --no-wait 'say later')" 5
	soon state_is idle
	is "$(v session mode c code) $(v session model c large) $(v session config c effort high)" "$S $S $S"
	is "$(v session show c --json | python3 -c 'import json,sys; s=json.load(sys.stdin); print(s["mode"], s["model"], s["config_options"][0]["currentValue"])')" 'code large high'
	is "$(v session ls -q) $(v session ls --cell c -q)" "$S $S"
	like "$(v session | tail -n 1)" "$S *idle *"
	# Events, from one on, and those to come.
	v session events "$S" --json >all
	v session events "$S" --json --since 4 >some
	is "$(tail -n +5 all)" "$(cat some)"
	is "$(v session events "$S" | head -n 2)" "$(printf '> say one; think two; tool Edit x; say three\none')"
	v session events "$S" --json --follow >followed &
	at_end "kill $! 2>/dev/null"
	v session prompt c 'say the end' >/dev/null
	v session close "$S" >/dev/null
	soon grep -q '"closed"' followed
	wait $!
	soon state_is closed
	v session events "$S" --json >all
	is "$(cat followed)" "$(cat all)"
	soon none_open
	is "$(v session ls -aq)" "$S"
	# Wrong words.
	exits 3 v session prompt s_nothing x
	exits 3 v session show nobody
	exits 2 v session prompt "$S" ' '
	exits 2 v session prompt "$S" $'\xff'
	exits 2 v session new c
	exits 2 v session new c --agent x -- y
	exits 2 v session events "$S" --since x
	exits 5 v session prompt "$S" more
	is "$(v session rm "$S")" "$S"
	exits 3 v session show "$S"
}
check 'sessions from the command line @r' verbs

lost() {
	started
	v session prompt c 'say begun; wait /tmp/go; say ended' >o &
	soon grep -q begun o
	kill -9 "$(pid_of)"
	v exec c touch /tmp/go
	wait $!
	is "$(cat o)" "$(printf 'begunended\n(tokens: 3 in, 4 out)')"
}
check 'a prompt goes on when vivd is killed' lost

forms() {
	started
	# shellcheck disable=SC2016
	v session prompt c $'say # Title <b>x</b> \e[31mred\a; think deep; call {"title":"Edit <i>","kind":"edit","status":"completed","content":[{"type":"diff","path":"/a<b","oldText":"one\\ntwo\\n","newText":"one\\nzwei <script>\\n"}],"rawInput":{"command":"rm -rf <x>"}}; odd; stderr oops; title A <title>' >/dev/null
	soon says c oops
	v session close c >/dev/null
	soon state_is closed
	v session events "$S" --json >events
	v transcript "$S" --json >t.json
	is "$(cat t.json)" "$(cat events)"
	v transcript "$S" --html -o page.html
	v transcript "$S" --markdown -o page.md
	v transcript "$S" >page.txt
	for f in page.html page.md page.txt; do
		! grep -q $'[\x01-\x08\x0b-\x1f\x7f]' "$f" || { echo "controls in $f"; return 1; }
	done
	! grep -qi '<script\|<i>\|<b>x\|<title>A <' page.html || { echo 'tags of the agent'; return 1; }
	like "$(cat page.html)" "<!DOCTYPE html>*default-src 'none'*&#60;script&#62;*never_heard_of*</html>"
	like "$(cat page.html)" '*<details class="tool" open>*<span class="d">-two</span><span class="a">+zwei *'
	like "$(cat page.md)" '*```diff*-two*+zwei <script>*'
	like "$(cat page.txt)" '*\\x1b\[31mred\\x07*✓ Edit <i> (edit)*/a<b +1 -1*'
	# From a file, the same.
	v transcript --from events >from.txt
	is "$(cat from.txt)" "$(cat page.txt)"
	v transcript --from - --markdown <events >from.md
	is "$(sed '1,/^## Prompt/d' from.md)" "$(sed '1,/^## Prompt/d' page.md)" 'Markdown from a file'
	printf 'no event\n{"seq":1}\n' >bad
	exits 0 v transcript --from bad
	like "$(cat err)" '*2 lines are not events*'
	exits 2 v transcript
	exits 2 v transcript "$S" --from bad
	exits 2 v transcript "$S" --html --markdown
	exits 1 v transcript "$S" --html -o /nowhere/x
	exits 3 v transcript nobody
	# Search.
	like "$(v transcript search deep)" "*$S*deep*"
	is "$(v transcript search -q deep nowhere)" ''
	is "$(v transcript search -q oops | sort -u)" "$S"
}
check 'transcripts as text, Markdown, HTML and JSON @r' forms

# ---- at a terminal ----

term() { # command line
	export TMUX_TMPDIR=$PWD
	at_end 'tmux -L t kill-server 2>/dev/null; soon server_gone'
	tmux -L t -f /dev/null new-session -d -x 120 -y 50 "trap : INT QUIT; $1; echo \"ended: \$?.\"; sleep 100"
	server=$(tmux -L t display-message -p '#{pid}')
}
server_gone() { ! kill -0 "$server" 2>/dev/null; }
keys() { tmux -L t send-keys "$@"; }
screen() { tmux -L t capture-pane -p; }
shown() { screen | grep -qF -- "$1"; }
sees() {
	soon shown "$1" >/dev/null && return 0
	echo "not on the screen: $1"
	screen
	return 1
}
asked_times() { [[ $(screen | grep -cF 'y (once), a (always), n (no)?') == "$1" ]]; } # how often it asks for a key
answers() { v transcript "$S" | grep -c "answer.*optionId.*\"$1\""; }

questions() {
	started
	# What is typed before the question does not count; a tool call is shown with all that it is.
	term "$VIV session prompt c 'say begun; wait /tmp/go; askwith {\"title\":\"Edit\\\\nnotes\",\"kind\":\"edit\",\"rawInput\":{\"command\":\"rm \\u200b-rf\"},\"content\":[{\"type\":\"diff\",\"path\":\"/n\",\"oldText\":\"old\\\\n\",\"newText\":\"new\\\\n\"}]}; ask second; ask third'"
	sees begun
	keys y Enter y Enter
	run_in c touch /tmp/go
	sees 'The agent asks: Edit\nnotes (edit)'
	sees '  | -old'
	sees '  | +new'
	sees 'rm \u200b-rf'
	sees 'y (once), a (always), n (no)?'
	is "$(answers yes)$(answers no)" 00
	keys maybe Enter
	soon asked_times 2
	keys y Enter
	sees 'The agent asks: second'
	soon asked_times 3
	is "$(answers yes)" 1
	keys n Enter
	sees 'The agent asks: third'
	soon asked_times 4
	# Somebody else is first.
	v approvals deny "$(v approvals ls -q)" >/dev/null
	sees 'it was answered elsewhere'
	sees 'ended: 0.'
	is "$(answers yes)$(answers no)" 12
}
check 'questions of an agent at a terminal' questions

long_question() {
	started
	python3 -c 'import json
print("askwith " + json.dumps({"title": "Write", "content": [{"type": "diff", "path": "/n", "newText": "line\n" * 5000 + "the end\n"}]}))' >prompt
	# The text is read from a file: standard input stays the terminal.
	term "$VIV session prompt c \"\$(cat prompt)\""
	sees 'This is not all of it: 4853 more lines'
	sees "viv approvals show 1' prints all of it"
	sees 'n (no)?'
	keys n Enter
	sees 'ended: 0.'
}
check 'a question that is too long says so' long_question

of_the_cell() {
	own_vivd
	printf 'ask files /secret/** read\n' >rules
	v create --name c --policy rules --mount "$E2E_DIR:/e2e:ro" >/dev/null
	S=$(v session new c -- python3 /e2e/acpagent.py)
	v session prompt c 'run mkdir /secret' >/dev/null
	v session prompt c 'run echo key >/secret/a' >/dev/null
	term "$VIV session prompt c 'run cat /secret/a'"
	sees 'open /secret/a (read)'
	sees 'y (once), a (always), n (no), never?'
	keys y Enter
	sees '"output": "key\n"'
	sees 'ended: 0.'
	# Without a terminal it is said who can answer.
	v session prompt c 'run cat /secret/a' </dev/null >o &
	soon grep -q "viv approvals allow 2" o
	v approvals deny 2 >/dev/null
	wait $!
	like "$(cat o)" '*the cell asks to open /secret/a (read)*Permission denied*'
}
check 'questions of the cell at the terminal of its session' of_the_cell

interrupts() {
	started
	term "$VIV session prompt c 'say begun; until_cancel'; $VIV session prompt c 'say again; ignore_cancel'"
	sees begun
	keys C-c
	sees 'the turn ended: cancelled'
	sees again
	keys C-c
	# That of this turn: two signals at once are one.
	offered() { [[ $(screen | grep -c 'Ctrl-C again to detach') == 2 ]]; }
	soon offered
	keys C-c
	sees 'detached'
	sees 'ended: 130.'
	v session close c >/dev/null
}
check 'Ctrl-C cancels a turn, and twice leaves it' interrupts

raw_bytes() {
	started
	python3 - "$VIV" <<-'END'
		import os, pty, sys
		evil = "say \x1b]0,owned\x07\x1b[2J\x9b31m\u202e\r\x08x; think \x1b[8mhidden; tool \x1b[1Aup; title \x1b]52,c,eA==\x07; stderr \x1b[5m"
		out = b""
		def read(fd):
		    global out
		    data = os.read(fd, 65536)
		    out += data
		    return data
		os.environ["TERM"] = "xterm"
		for words in (["session", "prompt", "c", evil], ["transcript", "c"], ["session", "events", "c", "--json"], ["session", "ls"], ["transcript", "search", "owned"]):
		    out = b""
		    assert os.waitstatus_to_exitcode(pty.spawn([sys.argv[1], *words], read, lambda fd: b"")) == 0, words
		    # viv's own: colours, and nothing else.
		    for own in (b"\x1b[2m", b"\x1b[0m", b"\x1b[31m", b"\x1b[32m", b"\x1b[33m", b"\r\n"):
		        out = out.replace(own, b"")
		    text = out.decode()
		    bad = [c for c in text if (ord(c) < 32 and c not in "\t\n") or 127 <= ord(c) < 160 or c == "\u202e"]
		    assert not bad and "owned" in text + "owned" * (words[1] == "ls"), (words, bad, text)
	END
}
check 'no control character of an agent reaches a terminal' raw_bytes

# ---- an agent from one command ----

run_agent() {
	own_vivd
	export XDG_CONFIG_HOME=$PWD/config
	mkdir -p config/vivarium/agents project/sub
	cp "$E2E_DIR/acpagent.py" project/
	printf 'name: scripted\nacp: [python3, /work/acpagent.py]\nimage: host\n' >config/vivarium/agents/scripted.yaml
	echo old >project/changed
	echo x >project/sub/deleted
	exits 0 v agent run scripted --mount project 'say hello; run echo new >changed; run rm sub/deleted; run echo 1 >added; run touch /root/inside'
	like "$(cat out)" "hello*Changed in $PWD/project: 1 added, 1 changed, 1 deleted*  A added*  C changed*  D sub/deleted*  A /root/inside*viv diff --patch scripted-*viv rm -f scripted-*"
	is "$(cat project/changed)" new
	name=$(v ls -q)
	like "$name" 'scripted-??????'
	exits 1 v agent run scripted --cell "$name" 'error no'
	is "$(v ls -q)" "$name"
	S=$(v agent run scripted --cell other --mount project:ro -d 'run touch x')
	soon says "$S" 'Read-only file system'
	exits 0 v agent run scripted --mount project --rm --json 'say x'
	is "$(tail -n 1 out | field type) $(tail -n 1 out | field status)" 'end 0'
	is "$(v ls -q | sort | xargs)" "$(printf '%s\n' "$name" other | sort | xargs)"
	exits 3 v agent run nobody x
	exits 3 v agent run claude x
	like "$(cat err)" "*viv agent add claude*"
	exits 2 v agent run scripted --mount nowhere x
	exits 5 v agent run scripted --cell "$name" --mount project/sub x
}
check 'viv agent run' run_agent

# Image "host" (no image_id), a variable, a key that nobody has set, and further mounts.
run_settings() {
	own_vivd
	export XDG_CONFIG_HOME=$PWD/config
	mkdir -p config/vivarium/agents project
	cp "$E2E_DIR/acpagent.py" project/
	printf 'name: needy\nacp: [python3, /work/acpagent.py]\nimage: host\nenv: {COLOR: red}\nsecrets: [{name: NEEDY_KEY, env: NEEDY_KEY, hosts: [needy.example.org], places: [bearer]}]\n' >config/vivarium/agents/needy.yaml
	echo inside >one-file
	exits 3 v agent run needy --mount project x
	like "$(cat err)" "*needs a key, and there is no secret 'NEEDY_KEY'*viv secret set NEEDY_KEY*--no-secrets*"
	is "$(v ls -q)" ''
	exits 0 v agent run needy --no-secrets --cell c --mount one-file:/data/file:ro --mount project:/work/ 'run cat /data/file; run echo $COLOR; run touch added'
	like "$(cat out)" "*inside*red*Changed in $PWD/project: 1 added, 0 changed, 0 deleted*"
	# The same again in the cell that is there; a mount elsewhere is another one.
	exits 0 v agent run needy --cell c --mount project 'run rm added'
	like "$(cat out)" "*Changed in $PWD/project: 0 added, 0 changed, 1 deleted*"
	exits 5 v agent run needy --cell c --mount project:/elsewhere x
	# With its key it needs no option.
	echo a-key-of-an-agent | exits 0 v secret set NEEDY_KEY --host needy.example.org --bearer
	exits 0 v agent run needy --rm --mount project 'run echo $NEEDY_KEY'
	! grep -q a-key-of-an-agent out || return 1
	is "$(v ls -q)" c
}
check 'viv agent run: mounts, variables and a missing key' run_settings

run_on_copy() {
	own_vivd
	export XDG_CONFIG_HOME=$PWD/config
	mkdir -p config/vivarium/agents project/sub
	cp "$E2E_DIR/acpagent.py" project/
	printf 'name: scripted\nacp: [python3, /work/acpagent.py]\nimage: host\n' >config/vivarium/agents/scripted.yaml
	echo old >project/changed
	echo x >project/sub/deleted
	git init -q project
	find project -exec stat -c '%n %Z %s' {} + | sort >before
	exits 0 v agent run scripted --on-copy --mount project --cell c 'say hello; run echo new >changed; run rm sub/deleted; run echo 1 >added; run touch /root/inside .git/hooks/x'
	like "$(cat out)" "hello*Changed in the copy of $PWD/project: 1 added, 1 changed, 1 deleted*  A added*  C changed*  D sub/deleted*besides, 1 that 'viv merge' leaves out*Changed in the cell:*  A /root/inside*viv merge c*viv merge --discard c*"
	# Told once, and not as changes of the cell; nothing is mounted.
	! grep -q ' /work' out || return 1
	! v inspect c | grep -qF "$PWD/project" || return 1
	# Nothing of it is on the host until it is merged.
	find project -exec stat -c '%n %Z %s' {} + | sort | cmp before -
	exits 0 v agent run scripted --cell c --json 'run echo 2 >added'
	is "$(tail -n 1 out | field copy_changes.added) $(tail -n 1 out | field copy_changes.left_out)" '1 1'
	exits 5 v agent run scripted --cell c --copy project/sub x
	exits 0 v merge -y c
	is "$(cat project/changed project/added; ls project/sub project/.git/hooks/x 2>/dev/null)" $'new\n2\nproject/sub:' || return 1
	exits 0 v agent run scripted --cell c 'say x'
	like "$(cat out)" "*Nothing changed in the copy of $PWD/project.*"
	# Without --mount, the directory that viv is in; nothing that cannot be merged.
	cd project || return 1
	exits 0 v agent run scripted --on-copy --cell d 'run rm added'
	like "$(cat out)" "*Changed in the copy of $PWD: 0 added, 0 changed, 1 deleted*"
	exits 0 v merge --discard d
	[[ -e added ]]
	exits 2 v agent run scripted --on-copy --rm x
	exits 2 v agent run scripted --on-copy --mount .:ro x
	exits 2 v agent run scripted --on-copy --copy . x
	exits 2 v agent run scripted --copy . --mount sub x
	like "$(cat err)" "*'sub' would hide the copy at '/work'*"
	is "$(v ls -q | sort | xargs)" 'c d'
}
check 'viv agent run --on-copy: the project changes with viv merge only' run_on_copy

# ---- examples ----

examples() {
	local spec='{"command":["python3","/e2e/acpagent.py"]}'
	own_vivd
	v create --name c --mount "$E2E_DIR:/e2e:ro" >/dev/null
	cp "$E2E_DIR"/examples/session/session.* .
	mkdir node_modules
	ln -s "$E2E_DIR/../clients/ts" node_modules/vivarium
	is "$(timeout 60 node session.mjs c "$spec" 'say hello; ask a question')" "$(printf 'helloanswer {"outcome": {"optionId": "yes", "outcome": "selected"}}\n(end_turn)')"
	cc -Wall -Wextra -Werror -I "$E2E_SOURCE/src/client" session.c "$E2E_BUILD/libvivarium.a" -o session
	is "$(timeout 60 ./session c "$spec" 'say hello; ask a question')" 'helloanswer {"outcome": {"optionId": "yes", "outcome": "selected"}}'
	soon none_open
}
check 'the examples of sessions, in C and JavaScript' examples
