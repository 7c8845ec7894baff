# What runs away ends inside of its cell; the next one works. shellcheck shell=bash

next_works() { is "$(viv -- echo fine)" fine 'the next cell'; }

fork_bomb() {
	exits 0 viv --timeout 30s --pids 60 -- python3 -c 'import os
try:
    while True: os.fork()
except OSError: pass'
	exits 124 viv --quiet --timeout 2s -- bash -c ':(){ :|:& };:; sleep 100'
	soon alone
	next_works
}
check 'a fork bomb @r' fork_bomb

pids() {
	is "$(viv --pids 20 -- python3 -c 'import os, errno
n = 0
try:
    while True:
        p = os.fork()
        if not p: import time; time.sleep(100)
        n += 1
except OSError as e: print(e.errno == errno.EAGAIN, 10 < n < 20, flush=True)
os._exit(0)')" 'True True' processes
	is "$(viv --pids 20 -- python3 -c 'import threading, time, os
n = 0
try:
    while True: threading.Thread(target=time.sleep, args=(100,), daemon=True).start(); n += 1
except RuntimeError as e: print(e, 10 < n < 20, flush=True)
os._exit(0)')" "can't start new thread True" threads
	is "$(viv --pids 10 -- bash -c 'for i in 1 2 3 4 5 6 7 8 9 10 11 12; do /bin/true; (exit 0); done; echo reused')" reused 'room is given back'
	exits 0 viv --pids 1 -- true
}
check '--pids counts processes and threads, and gives them back @r' pids

memory_hog() {
	exits 137 viv --quiet --timeout 40s --memory 100M -- python3 -c 'a = []
while True: a.append(bytearray(5000000))'
	is "$(viv --quiet --memory 150M -- bash -c 'python3 -c "a = []
while True: a.append(bytearray(5000000))"; echo "$?"; echo alive')" $'137\nalive' 'the hog dies, its parent goes on'
	is "$(viv --quiet --memory 200M -- python3 -c 'print(len(bytearray(50000000)))')" 50000000 'what is allowed works'
	next_works
}
check 'a memory hog @r' memory_hog

memory_files() {
	# Files of the cell, shared memory and memfds are memory as well.
	try viv --quiet --timeout 40s --memory 100M -- python3 -c '
import os
f = os.memfd_create("x"); n = 0
try:
    while n < 2000: os.write(f, bytes(1 << 20)); n += 1
except OSError as e: print(e.strerror)
raise SystemExit(3 if n < 2000 else 0)'
	[[ $rc == 137 || $rc == 3 ]] || { echo "status $rc: 2 GB in a memfd under a limit of 100M"; return 1; }
	next_works
}
check 'a hog that hides its memory in a memfd' memory_files

shm_is_half() {
	exits 0 viv --quiet --memory 200M -- sh -c 'df -k --output=size /dev/shm | tail -n 1 | tr -d " "
		dd if=/dev/zero of=/dev/shm/x bs=1M count=150 2>&1 | grep -o "No space left on device"; rm /dev/shm/x; echo alive'
	is "$(cat out)" $'102400\nNo space left on device\nalive'
}
check '/dev/shm holds half of the memory' shm_is_half

memory_mapped() {
	local kind
	# Written through mappings that do not stay.
	for kind in file memfd; do
		exits 137 viv --quiet --timeout 40s --memory 100M -- python3 -c '
import os, mmap, sys, time
step = 8 << 20
fd = os.memfd_create("x") if sys.argv[1] == "memfd" else os.open("/tmp/big", os.O_RDWR | os.O_CREAT)
os.ftruncate(fd, 50 * step)
for at in range(0, 50 * step, step):
    m = mmap.mmap(fd, step, offset=at); m[:] = b"x" * step; m.close()
time.sleep(2)' "$kind"
	done
	next_works
}
check 'a hog that hides its memory in mapped files @r' memory_mapped

disk_filler() {
	is "$(viv --timeout 50s --tmpfs /d:size=50M -- bash -c 'cat /dev/zero >/d/f 2>err; echo $?; grep -o "No space.*" err; stat -c %s /d/f; rm /d/f; echo x >/d/g && cat /d/g')" $'1\nNo space left on device\n52428800\nx'
	next_works
}
check 'a disk filler @r' disk_filler

descriptor_leak() {
	is "$(viv -- python3 -c '
import os, errno, resource
n = 0
try:
    while True: os.open("/dev/null", os.O_RDONLY); n += 1
except OSError as e: print(e.errno == errno.EMFILE, n + 3 == resource.getrlimit(resource.RLIMIT_NOFILE)[0])')" 'True True'
	is "$(viv --timeout 50s -- python3 -c '
import os, errno, resource, time
# Many processes that each hold all they may: the cell has a limit as well.
kids = []
r, w = os.pipe()
for i in range(80):
    p = os.fork()
    if not p:
        e = 0
        try:
            while True: os.pipe()
        except OSError as x: e = x.errno
        os.write(w, bytes([e])); time.sleep(100)
    kids.append(p)
seen = set()
while len(kids) > 0 and len(seen) >= 0:
    seen.add(os.read(r, 1)[0]); kids.pop()
print(seen <= {errno.EMFILE, errno.ENFILE}, len(seen) > 0, flush=True)
os._exit(0)')" 'True True'
	next_works
}
check 'a descriptor leak @r' descriptor_leak

other_objects() {
	# Each ends with an errno, and the kernel answers the next call.
	viv --quiet --timeout 50s -- python3 -c '
import os, errno, signal, ctypes, threading, select, mmap
libc = ctypes.CDLL(None, use_errno=True)
def until(f, limit=300000):
    n = 0
    try:
        while n < limit: f(n); n += 1
    except OSError as e: return errno.errorcode[e.errno]
    return "no end" if n >= limit else "?"
def timer(n):
    t = ctypes.c_void_p()
    if libc.timer_create(0, None, ctypes.byref(t)): raise OSError(ctypes.get_errno(), "")
keep = []
def sig(n): 
    if libc.sigqueue(os.getpid(), signal.SIGRTMIN, ctypes.c_void_p(n)): raise OSError(ctypes.get_errno(), "")
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGRTMIN])
for name, f, ok in ("timers", timer, ("EAGAIN",)), ("signals", sig, ("EAGAIN",)), ("epolls", lambda n: keep.append(select.epoll()), ("EMFILE",)):
    got = until(f); print(name, "bounded" if got in ok else got, flush=True)
keep.clear()
os.mkdir("/tmp/d"); os.chdir("/tmp/d")
print(os.getpid() > 0, open("/proc/self/comm").read().strip())' >out
	is "$(cat out)" $'timers bounded\nsignals bounded\nepolls bounded\nTrue python3'
	next_works
}
check 'other kinds of kernel objects are bounded too' other_objects

deep_things() {
	# Depth and length chosen by the guest.
	viv --timeout 50s -- python3 -c '
import os
n = 0
try:
    while n < 20000: os.mkdir("d"); os.chdir("d"); n += 1
except OSError as e: print(e.strerror)
print("deep", n > 1000)
for i in range(n): os.chdir(".."); os.rmdir("d")
os.symlink("x" * 4000, "/tmp/l"); print(len(os.readlink("/tmp/l")))
try: os.symlink("x" * 5000, "/tmp/m")
except OSError as e: print(e.strerror)
print(os.writev(os.open("/dev/null", 1), [b"x"] * 1024))
try: os.writev(os.open("/dev/null", 1), [b"x"] * 1025)
except OSError as e: print(e.strerror)' >out
	is "$(tail -n 5 out)" $'deep True\n4000\nFile name too long\n1024\nInvalid argument'
	next_works
}
check 'deep trees, long links, long vectors' deep_things

cpu_share() {
	[[ $(nproc) -ge 2 ]] || return 0
	# Four busy loops in a cell with one processor: not more than its share of the time that passed, however much that was.
	viv --cpus 1 --timeout 60s -- bash -c 'from=${EPOCHREALTIME/./}
for i in 1 2 3 4; do timeout 0.6 sh -c "while :; do :; done" & done; wait
to=${EPOCHREALTIME/./}; times >/tmp/t; echo $((to - from)) $(tail -n 1 /tmp/t | tr ms "  ")' >out
	[[ -s out ]]
	awk '{ used = $2 * 60 + $3; passed = $1 / 1e6; if (used > 0 && used < 1.25 * passed) exit 0; print "used " used " s in " passed " s"; exit 1 }' out
}
check '--cpus 1: no more than one processor'\''s time @r' cpu_share

# Programs with something for each processor (rseq) make room for all that are possible, and are told the host's numbers.
cpu_numbers() {
	local last
	last=$(python3 -c 'import os; print(max(os.sched_getaffinity(0)))')
	taskset -c "$last" "$VIV" run --cpus 1 -- python3 -c '
import ctypes, os
path = "/sys/devices/system/cpu/"
read = lambda name: open(path + name).read().strip()
possible = int(read("possible").split("-")[-1]) + 1
print(os.sched_getaffinity(0), os.cpu_count(), read("online"), read("present"))
print(all(ctypes.CDLL(None).sched_getcpu() < possible for _ in range(1000)), os.sysconf("SC_NPROCESSORS_CONF") == possible)
print(read("offline") == ("" if possible == 1 else "1" if possible == 2 else f"1-{possible - 1}"))' >out
	is "$(cat out)" $'{0} 1 0 0\nTrue True\nTrue'
}
check 'numbers of processors are less than what is possible @r' cpu_numbers

busy_neighbour() {
	viv --quiet --timeout 3s --pids 100 -- bash -c ':(){ :|:& };:; while :; do :; done' >/dev/null 2>&1 &
	sleep 0.3
	for i in 1 2 3; do is "$(viv -- sh -c 'echo $((6 * 7)); cat /proc/self/comm')" $'42\ncat'; done
	wait
	soon alone
}
check 'a cell works beside one that runs away @r' busy_neighbour
