# git: a tree of 5,000 files, clones and pushes. shellcheck shell=bash

LIMIT=180
setup='export HOME=$PWD GIT_CONFIG_NOSYSTEM=1 GIT_AUTHOR_DATE="@0 +0000" GIT_COMMITTER_DATE="@0 +0000"
git config --global user.email a@example.com; git config --global user.name A; git config --global init.defaultBranch main'

tool_same '5,000 files: add, commit, status, log, diff' git bash <<END
set -e; umask 022; $setup
git init -q r; cd r
for ((d = 0; d < 50; d++)); do mkdir d\$d; for ((f = 0; f < 100; f++)); do echo "\$d \$f" >d\$d/f\$f; done; done
git add -A; git commit -qm one; git rev-parse HEAD; git status --porcelain | wc -l
echo more >>d3/f4; rm d5/f6; echo new >n; chmod +x d7/f8; git status --porcelain; git diff --stat | tail -n 1
git add -A; git commit -qm two; git log --oneline | cat; git rev-parse HEAD
git checkout -q -b side HEAD~; echo side >s; git add s; git commit -qm side; git merge -q -m merge main; git log --graph --format=%s
git stash list; git mv s t; git stash -q; git stash pop -q; git status -s; git reset -q --hard
git ls-files | wc -l; git grep -c '^7 7\$'; git blame -s d3/f4; git bisect start HEAD HEAD~2 >/dev/null 2>&1; git bisect reset >/dev/null 2>&1; git gc -q; git fsck 2>&1; git count-objects | cut -d, -f1
git worktree add -q ../wt HEAD~; ls ../wt | wc -l; git archive HEAD d1 | tar t | wc -l; git rebase -q main; git log --format=%s | head -n 2
END

tool_same 'clone and push over file://' git bash <<END
set -e; umask 022; $setup
git init -q r; cd r; for ((i = 0; i < 300; i++)); do echo \$i >f\$i; done; git add -A; git commit -qm one
cd ..; git clone -q --bare "file://\$PWD/r" b.git; git clone -q "file://\$PWD/b.git" c; cd c
echo x >>f1; git commit -qam two; git push -q origin main; git -C ../b.git log --oneline; cd ../r; git pull -q ../b.git main; git log --format=%s; git clone -q --depth 1 "file://\$PWD/../b.git" ../s; git -C ../s log --oneline | wc -l
printf '#!/bin/sh\nexit 1\n' >../b.git/hooks/pre-receive; chmod +x ../b.git/hooks/pre-receive; cd ../c; echo y >>f1; git commit -qam three; git push -q origin main 2>/dev/null || echo refused
END

inside 'clone and push over a loopback git daemon' git $'2\nthree\n1' <<END
$setup
git init -q r; (cd r; for ((i = 0; i < 300; i++)); do echo \$i >f\$i; done; git add -A; git commit -qm one)
git clone -q --bare r b.git
git daemon --base-path="\$PWD" --export-all --enable=receive-pack --listen=127.0.0.1 --pid-file="\$PWD/pid" --detach
soon git ls-remote git://127.0.0.1/b.git
git clone -q git://127.0.0.1/b.git c; cd c; echo x >>f1; git commit -qam two; git push -q origin main; git -C ../b.git log --oneline | wc -l
git clone -q git://127.0.0.1/b.git ../e; cd ../e; echo y >>f2; git commit -qam three; git push -q origin main; git -C ../c pull -q; git -C ../c log -1 --format=%s
kill "\$(cat ../pid)"; s=0; git ls-remote git://127.0.0.1/b.git 2>/dev/null || s=1; echo \$s
END
