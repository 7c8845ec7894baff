# The store on a host that fails: no space, input and output errors, at every call. shellcheck shell=bash

faults() {
	# In memory: a sync of a disk that others write to takes its time.
	XDG_DATA_HOME=$(mktemp -d /dev/shm/viv-e2e.XXXXXX)
	export XDG_DATA_HOME
	at_end 'rm -rf "$XDG_DATA_HOME"'
	cc -D_GNU_SOURCE -shared -fPIC -O1 -o shim.so "$E2E_DIR/storefaults.c"
	timeout 300 python3 "$E2E_DIR/storefaults.py" "$VIV" "$PWD/shim.so" "${STORE_STEP:-15}"
}
check 'images: any call of the host fails, the store stays whole @r' faults
