# Each known agent: a conversation over ACP (drive.py), and one in a session of vivd (sessions.py); on the host, with 'viv mcp' as its MCP
# server (mcp.py). shellcheck shell=bash

conversation() { # program, agent
	in_world timeout 900 python3 "$E2E_THEMES/$1" "$2" log "$KEY" && return 0
	tail -n 20 stderr 2>/dev/null
	return 1
}
wanted() { # names...
	local name
	for name; do [[ -z $E2E_PATTERN || agents == *"$E2E_PATTERN"* || $name == *"$E2E_PATTERN"* ]] && return 0; done
	return 1
}
agent() { # row of known.py, name of the agent, mcp: it can have MCP servers
	local name direct="$1: reads, edits, runs, asks, is cancelled and loaded again, over ACP"
	local session="$1: the same in a session, with vivd killed and the cell stopped in between"
	local mcp="$1: makes and uses a cell by 'viv mcp', its own MCP server" tests=("$direct" "$session")
	[[ ${3-} == mcp ]] && tests+=("$mcp")
	wanted "${tests[@]}" || return 0
	if installed "$2"; then
		check "$direct" conversation drive.py "$1"
		check "$session" conversation sessions.py "$1"
		[[ ${3-} != mcp ]] || check "$mcp" conversation mcp.py "$1"
	else
		for name in "${tests[@]}"; do skip "$name" "$why"; done
	fi
}

agent pi pi
agent claude claude mcp
agent codex codex
agent codex-full codex
agent opencode opencode mcp
agent gemini gemini mcp
