# npm in a cell, with the registry that npm on the host uses. shellcheck shell=bash

npm_install() { # registry
	local host=${1#*://} address
	host=${host%%/*}
	address=$(getent ahostsv4 "${host%%:*}" | awk '{ print $1; exit }')
	echo '{"name":"t","version":"1.0.0","dependencies":{"express":"4","webpack":"5","lodash":"4"}}' >package.json
	# The address as well, as a registry may be on a private network.
	LIMIT=240 exits 0 viv --mount "$PWD:/p:rw" -w /p -e HOME=/tmp --allow "$host" --allow "$address" -- \
		npm install --no-audit --no-fund --no-update-notifier
	[[ $(find node_modules -maxdepth 1 -mindepth 1 | wc -l) -ge 100 ]]
}
registry=$(npm config get registry 2>/dev/null)
if curl -sSf --max-time 20 -o /dev/null "${registry}lodash" 2>/dev/null; then
	check 'npm install of more than 100 packages' npm_install "$registry"
else
	skip 'npm install of more than 100 packages' 'npm has no registry that can be reached'
fi
