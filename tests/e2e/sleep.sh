# Cells that sleep, and what wakes them. shellcheck shell=bash

case_of() { python3 "$E2E_DIR/sleep.py" "$VIV" "$PWD" "$1"; }
check 'sleep ends its processes, uses wake it: exec, files, the command line @r' case_of uses
check 'who waits for a wake: many at once, one that goes away, one that fails' case_of waiters
check 'a cell that nobody uses falls asleep, and what counts as use' case_of unused
check 'ports and previews of a sleeping cell @r' case_of ports
check 'a prompt wakes the cell of its session, which goes on' case_of sessions
check 'vivd is killed while a cell sleeps, falls asleep or wakes' case_of killed
check 'hostile cells: one that does not want to sleep, storms at a sleeping port' case_of hostile
