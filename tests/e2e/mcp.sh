# viv mcp, by a scripted client and by the official one. shellcheck shell=bash
stop_vivd() { "$VIV" daemon stop; }

scripted() { # check
	at_end stop_vivd
	at_end '"$VIV" ls -q | xargs -r "$VIV" rm -f >/dev/null'
	python3 "$E2E_DIR/mcp.py" "$VIV" "$1"
}
check 'MCP: every tool' scripted tools
check 'MCP: progress and cancellation, which kills the command' scripted cancel
check 'MCP: one cell only, read-only, and what the operator grants' scripted limits
check 'MCP: agents in cells, their questions and transcripts' scripted agents
check 'MCP: files and output as resources' scripted resources
check 'MCP: malformed messages get one error each' scripted bad
check 'MCP: over HTTP, with sessions and a token' scripted web
