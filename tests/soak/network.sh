#!/bin/bash
# Long and large uses of the network, with figures. No part of 'make test': it takes an hour.
#
#   tests/soak/network.sh VIV     SOAK_SECONDS: how long streams of events last (3600); SOAK_SIZE: bytes each way (10G);
#                                 SOAK_CONNECTIONS: that the gate opens at once (1000); SOAK_CELLS: with a gate each (200)
#
# It happens in a world (tests/e2e/world.sh), which it makes. What fails is printed and makes the status 1.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
E2E_DIR=$here/../e2e

if [[ ${1-} != --inside ]]; then
	[[ $# == 1 ]] || { sed -n '2,5s/^# \?//p' "$0" >&2; exit 2; }
	viv=$(realpath "$(command -v "$1")")
	work=$(mktemp -d /tmp/viv-soak.XXXXXX)
	chmod 755 "$work"
	trap 'rm -rf "$work"' EXIT
	namespaces=(unshare --net --mount)
	[[ $(id -u) == 0 ]] || namespaces+=(--map-root-user)
	"${namespaces[@]}" "$E2E_DIR/world.sh" enter "$work/world" "$0" --inside "$viv" "$work"
	exit
fi

VIV=$2 scratch=$3 tap=/dev/stderr
cd "$scratch"
pause_for() { sleep "$1"; }
# shellcheck source=tests/e2e/world.sh
. "$E2E_DIR/world.sh"
export XDG_DATA_HOME=$scratch/data XDG_RUNTIME_DIR=$scratch/run XDG_STATE_HOME=$scratch/state
mkdir -m 700 data run state
trap 'set +e; "$VIV" ls -q | xargs -r "$VIV" rm -f >/dev/null; "$VIV" daemon stop; world_end' EXIT
world_name_server
world_web
mkdir certs
for name in server wrongname expired selfsigned; do
	cp "$E2E_WORLD/server.pem" "certs/$name.pem"
	cp "$E2E_WORLD/server.key" "certs/$name.key"
done
world_run webserver python3 "$E2E_DIR/webserver.py" "$scratch/certs"
world_wait 93.184.216.35 8443
truncate -s "${SOAK_SIZE:-10G}" www/large
python3 "$here/network.py" "$VIV" "$E2E_WORLD/ca.pem" "$(stat -c %s www/large)"
