# Coding agents as programs: Node, Rust and Bun. Installed on the host, shown read-only. shellcheck shell=bash

# agent NAME, BINARY, PACKAGE, VERSION, text on its first screen
agent() {
	local at=$TOOLCHAINS_CACHE/agent-$1
	wanted "$1 --version" "$1 --help" "$1 draws its screen" || return 0
	if fetched "$at" "$3@$4"; then
		check "$1 --version" agent_runs "$at" "$2" --version "*$4*"
		check "$1 --help" agent_runs "$at" "$2" --help '*--help*'
		check "$1 draws its screen" agent_draws "$at" "$2" "$5"
	else
		skip "$1 --version" "$why"
		skip "$1 --help" "$why"
		skip "$1 draws its screen" "$why"
	fi
}
agent_runs() { # directory, binary, option, wanted
	exits 0 viv --mount "$1:/agent:ro" --env HOME=/root --workdir /root -- "/agent/node_modules/.bin/$2" "$3"
	like "$(cat out err)" "$4" # some speak on standard error
}
# In a terminal of tmux, inside of the cell. No key is at hand, so the first screen is all that there is.
agent_draws() { # directory, binary, text on the screen
	exits 0 viv --mount "$1:/agent:ro" --env HOME=/root --env TERM=xterm-256color --workdir /root -- bash -c '
		tmux -f /dev/null new-session -d -x 100 -y 30 "/agent/node_modules/.bin/$1"
		for ((i = 0; i < 200; i++)); do
			tmux capture-pane -p | grep -F -- "$2" && exit 0
			sleep 0.2
		done
		tmux capture-pane -p; exit 1' bash "$2" "$3"
}
agent pi-coding-agent pi @mariozechner/pi-coding-agent 0.73.1 'pi v0.73.1'
agent codex codex @openai/codex 0.166.0 'Welcome to Codex'
agent claude-code claude @anthropic-ai/claude-code 2.1.197 'Welcome to Claude Code'
agent opencode opencode opencode-ai 1.18.33 'Ask anything'
