# vivd and its cells under SIGKILL, on a full disk, with bad clients and jumping clocks. shellcheck shell=bash

# Longer, and from another seed: make chaos.
chaos() { python3 "$E2E_DIR/chaos.py" "$VIV" "$PWD" --seconds "${CHAOS_SECONDS:-4}" --seed "${CHAOS_SEED:-1}"; }
hardship() { python3 "$E2E_DIR/hardship.py" "$VIV" "$PWD" "$1"; }

check 'kill -9 of vivd, keepers, kernels and commands under load loses and leaves nothing @r' chaos
check 'a full disk is told, cells go on, and all is well when there is room again @r' hardship full
check 'half-open connections cost nothing and hold up nobody' hardship half_open
check 'those who wait and go away hold up nobody' hardship waits
check 'names, labels, paths and words with every odd byte' hardship odd_bytes
check 'a token for one cell sees no other, on every route @r' hardship tokens
check 'the wall clock jumps, and what counts seconds does not' hardship clock

timers() { python3 "$E2E_DIR/timers.py" "$VIV" "$PWD" "$1"; }
check 'time-outs of cells, processes, stops and idleness go on when vivd is killed @r' timers timeouts
check 'restarts: their number, their delays and their end go on when vivd is killed @r' timers restarts
check 'a keeper that cannot be reached any more, for it ends, is waited for @r' timers quick_ends
check 'what a keeper tells at its end is heard, however much it is @r' timers last_words
check 'a keeper that ends while there is no vivd is neither lost nor in the way @r' timers ends_unseen
check 'a run that ends while vivd does not look is seen, and leaves nothing @r' timers runs_unseen
check 'a keeper that does not answer a new vivd is not taken for gone @r' timers mute
