# What makes mistakes of the kernel hard to use. shellcheck shell=bash

places_differ() {
	is "$(python3 "$E2E_DIR/hardening.py" "$VIV" places 2>&1)" ok
}
check 'two kernels lie at different places, without writable code, with gaps and read-only tables @root' places_differ

damage_is_told() {
	is "$(python3 "$E2E_DIR/hardening.py" "$VIV" damage 2>&1)" ok
}
check 'a kernel whose memory is damaged ends and says so @root' damage_is_told
