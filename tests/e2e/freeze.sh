# Cells that sleep with their processes. shellcheck shell=bash

case_of() { python3 "$E2E_DIR/freeze.py" "$VIV" "$PWD" "$1"; }
check 'processes go on after a wake: a shell pipeline, threads, timers, pipes, open files @r' case_of goes_on
check 'frozen again and again in the middle of forks, pipes and signals' case_of cycles
check 'what cannot be frozen is refused with the reason, and the cell runs on' case_of refused
check 'frozen files that are damaged, old, of another boot, or whose files changed' case_of damaged
check 'frozen files that a captured kernel could have written: numbers, parents, mappings and contents that cannot be' case_of forged
check 'rules for files hold for what a thaw opens and maps again' case_of rules
check 'a keeper that is killed thaws nothing twice; rollback, start and rm drop what was frozen' case_of once
check 'hostile cells: one that never rests, one that says it does and lies, one with many mappings' case_of hostile
