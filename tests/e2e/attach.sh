# Processes that outlive their clients. shellcheck shell=bash

case_of() { python3 "$E2E_DIR/attach.py" "$VIV" "$PWD" "$1"; }
check 'a process is detached from and attached to again, with what was missed @r' case_of again
check 'the same as streams of lines and of frames, and a client that goes in the middle' case_of streams
check 'a terminal with two clients @r' case_of terminal
check 'a detached process with open input is written to @r' case_of detached_input
check 'the command of a cell is attached to' case_of first
check 'a client that reads too slowly is told how many bytes it missed' case_of slow
check 'attached to again after kill -9 of vivd @r' case_of restart
check 'many clients of one process' case_of many
check 'much output in small pieces' case_of hostile
check 'a cursor in logs' case_of cursor
