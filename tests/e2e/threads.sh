# Threads: futexes, and threads beside fork, vfork and exec. shellcheck shell=bash

same '32 threads on futexes @r' bash <<'EOF'
"$P/threads32"; for i in 1 2 3; do "$P/threads32"; done | sort -u | wc -l
EOF
same 'vfork, posix_spawn and fork from a process with threads @r' bash <<'EOF'
for i in 1 2 3; do "$P/vfork_threads"; done
EOF
same 'exec from a thread' bash <<'EOF'
for i in 1 2 3; do "$P/exec_in_thread"; done
EOF
