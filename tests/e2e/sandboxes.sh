# Programs that put themselves behind a seccomp filter. shellcheck shell=bash

same 'file(1), built with a filter of its own in some releases @r' bash <<'EOF'
printf 'hello\n' >t; printf '%%PDF-1.4\n' >p; printf 'GIF89a' >g; gzip -nc t >t.gz; mkdir d; ln -s t l
file t p g d l /bin/true | sed 's/BuildID[^,]*, //'; file -b -i t g; file -z -b t.gz; file -S -b t
cat t g | file -; echo $?
EOF

man_has_filter() {
	viv --trace -- sh -c 'printf ".TH T 1\n.SH NAME\nt\n" >u.1; man -l u.1' >out 2>err
	like "$(grep -c 'seccomp(0x1, 0, 0x.*) = 0' err)" '[1-9]*' 'filters installed'
}
check 'man installs filters in a cell @r' man_has_filter

same 'man and its helpers behind a filter' bash <<'EOF'
mkdir -p m/man1; printf '.TH T 1\n.SH NAME\nt \\- a page\n.SH TEXT\nSome \\fBbold\\fP words.\n' >m/man1/t.1; cp m/man1/t.1 u.1; gzip m/man1/t.1
man -l u.1 2>&1 | col -b; man -M "$PWD/m" -P cat t 2>&1 | col -b | head -n 3; lexgrog u.1; man -w -M m t | sed 's/.*m.man1/man1/'
EOF

cat >"$scratch/lib.py" <<'EOF'
# libseccomp itself, by ctypes: lists of what is allowed, tried by calls of every kind.
import ctypes, errno, os, subprocess, threading
lib = ctypes.CDLL("libseccomp.so.2")
lib.seccomp_init.restype = ctypes.c_void_p
lib.seccomp_init.argtypes = [ctypes.c_uint32]
lib.seccomp_load.argtypes = [ctypes.c_void_p]
lib.seccomp_rule_add.argtypes = [ctypes.c_void_p, ctypes.c_uint32, ctypes.c_int, ctypes.c_uint]
lib.seccomp_attr_set.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_uint32]
ALLOW, ERRNO, LOG = 0x7fff0000, 0x50000, 0x7ffc0000

def load(default, rules, sync=False):
    ctx = lib.seccomp_init(default)
    if sync:
        assert lib.seccomp_attr_set(ctx, 4, 1) == 0
    for name, action in rules.items():
        nr = lib.seccomp_syscall_resolve_name(name.encode())
        assert lib.seccomp_rule_add(ctx, action, nr, 0) == 0, name
    print("load", lib.seccomp_load(ctx))

def tried(what, fn):
    try:
        fn()
        print(what, "works")
    except OSError as e:
        print(what, errno.errorcode[e.errno])

go = threading.Event()
def late():
    go.wait()
    tried("mkdir in a thread", lambda: os.mkdir("t"))
th = threading.Thread(target=late)
th.start()
load(ALLOW, {"mkdir": ERRNO | errno.EROFS, "socket": ERRNO | errno.EAFNOSUPPORT, "chmod": LOG}, sync=True)
go.set()
th.join()
tried("mkdir", lambda: os.mkdir("x"))
tried("chmod", lambda: os.chmod(".", 0o755))
print(subprocess.run(["sh", "-c", "mkdir y 2>&1; echo done; python3 -c 'import socket; socket.socket()' 2>&1 | tail -1"],
                     capture_output=True, text=True).stdout)
load(ALLOW, {"execve": ERRNO | errno.EACCES, "clone": ERRNO | errno.EAGAIN, "clone3": ERRNO | errno.ENOSYS,
             "fork": ERRNO | errno.EAGAIN, "vfork": ERRNO | errno.EAGAIN})
tried("exec", lambda: os.execv("/bin/true", ["true"]))
tried("fork", os.fork)
tried("spawn", lambda: subprocess.run(["true"]))
print([l.strip() for l in open("/proc/self/status") if l.startswith("Seccomp")])
EOF
same 'libseccomp: lists, logs, threads, children' python3 <"$scratch/lib.py"
