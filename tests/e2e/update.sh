# Changing cells while they run: PATCH, viv update, viv apply. shellcheck shell=bash

case_of() { python3 "$E2E_DIR/update.py" "$VIV" "$PWD" "$1"; }
check 'processes: fewer and more, for what runs already, as any user @r' case_of processes
check 'memory: more, less, and less than is in use @r' case_of memory
check 'processors: time and number @r' case_of processors
check 'the room on a disk @r' case_of disk
check 'times, labels, policy, checks @r' case_of settings
check 'what is refused changes nothing @r' case_of refused
check 'kept by vivd, by the next one, and at the next start @r' case_of kept
check 'what ends at once has ended, and was not lost @r' case_of quick
check 'viv update, and viv apply without a restart @r' case_of commands
