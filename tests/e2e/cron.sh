# Schedules. The clock of vivd's schedules is the test's own. shellcheck shell=bash

case_of() { python3 "$E2E_DIR/cron.py" "$VIV" "$PWD" "case:$1"; }
check 'a command in a stopped cell, output, pause, odd ends @r' case_of basic
check 'viv cron' case_of cli
check 'missed times, and a clock that is set' case_of missed
check 'overlap, time-outs, removal @r' case_of overlaps
check 'kill -9 of vivd at any moment: each time runs once' case_of killed
check 'a new cell whose start was under way when vivd was killed' case_of begun
check 'prompts are sent once' case_of prompts
check 'tokens, bounds, malformed requests' case_of rights
