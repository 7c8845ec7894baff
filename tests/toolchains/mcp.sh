# The official MCP client, from npm, against viv mcp. shellcheck shell=bash
sdk=@modelcontextprotocol/sdk

official() { # stdio or http
	at_end '"$VIV" rm -f sdk >/dev/null 2>&1; "$VIV" daemon stop'
	is "$(timeout -k 5 300 node "$E2E_THEMES/mcp.mjs" "$VIV" "$TOOLCHAINS_CACHE/mcp" "$1")" good
}
for how in stdio http; do
	if ! wanted "the official MCP client over $how"; then
		continue
	elif fetched "$TOOLCHAINS_CACHE/mcp" "$sdk"; then
		check "the official MCP client over $how" official "$how"
	else
		skip "the official MCP client over $how" "$why"
	fi
done
