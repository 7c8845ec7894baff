# Output of detached processes that is kept, over the API and by 'viv logs'. shellcheck shell=bash

case_of() { python3 "$E2E_DIR/logs.py" "$VIV" "$PWD" "$1"; }
check 'kept output: tail by lines, since a time @r' case_of cut
check 'kept output is followed to the end of its process, and read again after kill -9 of vivd @r' case_of follows
check 'kept output: files come and go under who follows, and nothing is missed' case_of rotates
