# tmux, vim, less and ssh: programs that are at home in a terminal. shellcheck shell=bash

inside 'tmux runs a shell, splits and captures' tmux $'42\n2\n1' --env TERM=xterm <<'END'
export HOME=$PWD; tmux -f /dev/null new-session -d -s a -x 80 -y 24 'sh'
tmux send-keys -t a 'echo $((6 * 7)) > out; tmux wait-for -S done' Enter; tmux wait-for done; cat out
tmux split-window -t a sh; tmux list-panes -t a | wc -l
tmux send-keys -t a.1 'exit' Enter; soon sh -c '[ $(tmux list-panes -t a | wc -l) = 1 ]'; tmux list-panes -t a | wc -l
tmux kill-server
END

inside 'vim: ex mode, and keys on a terminal of tmux' 'vim tmux' $'b\nb and more\nE325' --env TERM=screen <<'END'
export HOME=$PWD; echo a >f; vim -es -u NONE -c '%s/a/b/' -c wq f; cat f
tmux -f /dev/null new-session -d -s a -x 80 -y 24 'vim -u NONE -N f'
soon sh -c 'tmux capture-pane -p -t a | grep -q "^b"'
tmux send-keys -t a 'A' ' and more' Escape; tmux send-keys -t a ':w' Enter; soon grep -q more f; cat f
vim -u NONE -es -c 'echo 1' -c 'qa!' f </dev/null >log 2>&1 || true
vim -u NONE -T dumb --not-a-term -c 'qa!' f </dev/null 2>&1 | grep -o -m 1 E325
tmux send-keys -t a ':q' Enter; tmux kill-server 2>/dev/null || true
END

inside 'less: pages on a terminal, search, plain through a pipe' 'less tmux' $'100\nfound\nquit' --env TERM=screen <<'END'
seq 500 >f; seq 100 | less -F | tail -n 1
tmux -f /dev/null new-session -d -s a -x 80 -y 24 'less f; sleep 100'
soon sh -c 'tmux capture-pane -p -t a | grep -q "^23$"'; tmux send-keys -t a '/^400' Enter
soon sh -c 'tmux capture-pane -p -t a | grep -q "^410$"' && echo found
tmux send-keys -t a q; soon sh -c 'pgrep -x sleep' && echo quit; tmux kill-server
END

inside 'ssh starts; keys are made and used' 'ssh ssh-keygen' $'OpenSSH\nED25519\nGood\nrefused' <<'END'
export HOME=$PWD; ssh -V 2>&1 | grep -o ^OpenSSH
ssh-keygen -q -t ed25519 -N '' -f k; ssh-keygen -lf k.pub | grep -o ED25519
echo data >d; ssh-keygen -q -Y sign -f k -n file d 2>/dev/null; ssh-keygen -Y check-novalidate -n file -s d.sig <d | cut -d ' ' -f 1
ssh -o BatchMode=yes -p 9 127.0.0.1 true 2>&1 | grep -o refused
END

inside 'script makes a terminal' 'script stty' $'tty\n30 90' <<'END'
script -qec 'test -t 0 && test -t 1 && echo tty; stty rows 30 cols 90; stty size' /dev/null </dev/null | tr -d '\r'
END
