# 'make install': what it puts where, and that it works from there, also for systemd. shellcheck shell=bash

put() { make -s --no-print-directory -C "$E2E_SOURCE" MODE="$(basename "$E2E_BUILD")" "$@" >make.log 2>&1 || { tail -n 5 make.log; return 1; }; }
listed() { (cd "$1" && find . -type f | sort); }

works() {
	put install PREFIX="$PWD/p"
	put install PREFIX=/usr DESTDIR="$PWD/d"
	is "$(listed d/usr)" "$(listed p)" 'what DESTDIR gets'
	fails grep -rqF "$PWD" d/usr/lib/systemd
	for f in bin/viv libexec/vivarium/viv{d,-kernel,-keeper,-store,-s3} lib/libvivarium.a include/vivarium.h share/man/man1/viv.1 share/bash-completion/completions/viv share/zsh/site-functions/_viv lib/systemd/{user,system}/vivd.{socket,service}; do
		[[ -s p/$f ]] || { echo "$f is not there"; return 1; }
	done
	# Moved or not, the programs find each other.
	mv d/usr moved
	for at in p moved; do
		export XDG_DATA_HOME=$PWD/$at.data XDG_RUNTIME_DIR=$PWD/$at.run XDG_STATE_HOME=$PWD/$at.state
		mkdir "$at.run"
		viv=$PWD/$at/bin/viv
		is "$(cd / && "$viv" run -- echo in a cell)" 'in a cell'
		(cd / && "$viv" daemon start)
		at_end "'$viv' daemon stop 2>/dev/null"
		is "$(readlink "/proc/$(<"$XDG_RUNTIME_DIR/vivarium/vivd.lock")/exe")" "$PWD/$at/libexec/vivarium/vivd"
		curl -sS --unix-socket "$XDG_RUNTIME_DIR/vivarium/vivd.sock" http://vivd/v1/cells -d '{"start":true,"command":["true"]}' | grep -q '"id"'
		"$viv" image ls >/dev/null
		"$viv" daemon stop
	done
	printf '#include <vivarium.h>\nint main(void) { return viv_open == 0; }\n' >t.c
	gcc -Ip/include -o t t.c -Lp/lib -lvivarium && ./t
	put uninstall PREFIX="$PWD/p"
	is "$(listed p)" '' 'what uninstall leaves'
}
check 'make install, DESTDIR, programs that find each other, make uninstall' works

# What systemd does with the units: listens, starts the service with the socket when somebody connects, waits until it is ready.
units() {
	put install PREFIX="$PWD/p"
	export XDG_DATA_HOME=$PWD/data XDG_RUNTIME_DIR=$PWD/run XDG_STATE_HOME=$PWD/state
	mkdir run
	python3 - "$PWD/p/lib/systemd" "$XDG_RUNTIME_DIR" <<-'EOF'
	import configparser, json, os, shlex, signal, socket, sys

	def unit(path):
	    c = configparser.ConfigParser(interpolation=None, strict=True, delimiters="=")
	    c.optionxform = str
	    assert c.read(path), path
	    return c

	for kind in ("user", "system"):
	    s, k = (unit(f"{sys.argv[1]}/{kind}/vivd.{x}") for x in ("service", "socket"))
	    assert s["Service"]["Type"] == "notify" and s["Service"]["KillMode"] == "process", kind
	    assert k["Socket"]["SocketMode"] == "0600" and k["Socket"]["DirectoryMode"] == "0700"
	    command = shlex.split(s["Service"]["ExecStart"])
	    assert os.access(command[0], os.X_OK), command
	    place = k["Socket"]["ListenStream"].replace("%t", sys.argv[2])
	    assert place == ("/run/vivarium/vivd.sock" if kind == "system" else sys.argv[2] + "/vivarium/vivd.sock"), place
	place = sys.argv[2] + "/vivarium/vivd.sock"
	os.mkdir(os.path.dirname(place), 0o700)

	for name in (sys.argv[2] + "/notify", "\0vivd-notify-%d" % os.getpid()):
	    listening, notify = socket.socket(socket.AF_UNIX), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
	    listening.bind(place)
	    os.chmod(place, 0o600)
	    listening.listen(8)
	    notify.bind(name)
	    notify.settimeout(60)
	    client = socket.socket(socket.AF_UNIX)
	    client.connect(place)
	    client.sendall(b"GET /v1/version HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
	    pid = os.fork()
	    if pid == 0:
	        if listening.fileno() != 3:
	            os.dup2(listening.fileno(), 3)
	        os.set_inheritable(3, True)
	        env = {k: v for k, v in os.environ.items() if k.startswith("XDG") or k == "PATH"}
	        os.execve(command[0], command, {**env, "LISTEN_PID": str(os.getpid()), "LISTEN_FDS": "1", "NOTIFY_SOCKET": name.replace("\0", "@")})
	    listening.close()
	    assert b"READY=1" in notify.recv(4096).split(b"\n")
	    answer = b""
	    while more := client.recv(4096):
	        answer += more
	    about = json.loads(answer.split(b"\r\n\r\n", 1)[1])
	    assert about["activated"] is True and about["pid"] == pid, about
	    os.kill(pid, signal.SIGTERM)
	    assert b"STOPPING=1" in notify.recv(4096).split(b"\n")
	    assert os.waitpid(pid, 0)[1] == 0
	    assert os.path.exists(place), "the socket is systemd's"
	    os.unlink(place)
	EOF
}
check 'systemd: socket activation, readiness, both kinds of units' units
