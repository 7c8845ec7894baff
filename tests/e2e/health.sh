# Health checks of cells. shellcheck shell=bash

case_of() { python3 "$E2E_DIR/health.py" "$VIV" "$PWD" "$1"; }
check 'states, events, the last result, no checks while paused @r' case_of states
check 'a check that hangs is killed; a new vivd goes on @r' case_of hangs
check 'unhealthy cells are started again by their policy @r' case_of restarts
check 'the start period, idle cells, what is refused' case_of periods
check 'vivarium.yaml: what depends on a healthy cell waits for that' case_of depends
