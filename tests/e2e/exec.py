"""viv exec at terminals, and what else the shell cannot do: exec.py NAME [ARGUMENT]."""
import fcntl
import os
import random
import signal
import socket
import struct
import subprocess
import sys
import time

from terminal import VIV, Terminal

MESSAGE = 512


def viv(*words):
    return subprocess.run([VIV, *words], stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, check=True).stdout.decode().strip()


def cell():
    return viv('run', '-d', '--', 'sleep', '1000')


def shell(c, **more):
    t = Terminal([VIV, 'exec', '-it', '-e', 'PS1=P>', c, 'bash', '--norc', '--noprofile', '-i'], **more)
    t.expect('P>')
    return t


def end(t, status=0):
    t.type('exit %d\r' % status)
    assert t.wait() == status, t.status


def terminal(c):
    t = shell(c, rows=31, cols=97)
    t.type('tty; stty size; echo $TERM\r')
    t.expect('/dev/pts/0')
    t.expect('31 97')
    t.expect('xterm')
    # Keys are the cell's own: an interrupt, a stop, a job in the background and in front again.
    t.type("sh -c 'echo be\"\"gun; exec sleep 100'\r")
    t.expect('begun\r\n')
    t.type('\x03')
    t.expect('P>')
    t.type('echo after $?\r')
    t.expect('after 130')
    # It makes no process, for a shell uses vfork: on Linux too, a child that is stopped before its exec keeps its parent from stopping.
    t.type("sh -c 'trap \"echo ag\"\"ain\" CONT; echo be\"\"gun; while :; do read x; done'\r")
    t.expect('begun\r\n')
    t.type('\x1a')
    t.expect('Stopped')
    t.type('jobs\r')
    t.expect('read x')
    t.type('fg\r')
    t.expect('again\r\n')  # it is in the foreground before it is continued
    t.type('\x03')
    t.expect('P>')
    # A new size reaches who asks, and who is told.
    t.type("trap 'echo winch $(stty size)' WINCH; echo set\r")
    t.expect('\rset\r\n')
    t.expect('P>')  # before it, readline reads the size and sets what it read, which could undo ours
    t.resize(40, 120)
    for _ in range(20):  # bash runs a trap when it has read a line after the signal
        time.sleep(0.5)
        t.type('\r')
        t.pump(0.1)
        if b'winch 40 120' in t.out[t.mark:]:
            break
    t.expect('winch 40 120')
    # Nothing is lost of much output, and a line is edited by the cell's terminal.
    t.type('seq 1 20000\r')
    t.expect('\n20000\r\n')
    t.type("echo be''gin; cat\r")
    t.expect('begin\r\n')  # before that it would be the shell's to edit
    t.type('abX\x7fc\r')
    t.expect('c\r\nabc\r\n')
    t.type('\x04')
    t.expect('P>')
    end(t, 5)


def several(c):
    all_of = [shell(c) for _ in range(6)]
    for i, t in enumerate(all_of):
        t.type('tty; x=%d\r' % i)
        t.expect('/dev/pts/%d' % i)
    # Each has its own foreground group: only one is interrupted.
    for t in all_of:
        t.type("sh -c 'echo be\"\"gun; exec sleep 100'; echo st $?\r")
        t.expect('begun\r\n')
    all_of[2].type('\x03')
    all_of[2].expect('P>')
    all_of[2].type('echo x is $x\r')
    all_of[2].expect('x is 2')
    for i, t in enumerate(all_of):
        if i != 2:
            assert b'st 130' not in t.out, i
            t.type('\x03')
            t.expect('P>')
    for i, t in enumerate(all_of):
        end(t, i)
    # Their numbers are free again.
    for _ in range(100):  # the keeper closes a terminal a moment after its client has gone
        t = shell(c)
        t.type('tty\r')
        t.expect('P>')
        if b'/dev/pts/0' in t.out:
            break
        end(t)
    assert b'/dev/pts/0' in t.out, t.out
    # The shell ends, its children keep the terminal open: exec ends all the same.
    t.type('(trap "" HUP; sleep 1000) & disown\r')
    end(t)


def killed(c):
    t = Terminal([VIV, 'exec', '-it', c, 'sh', '-c', 'trap "echo hup >/tmp/hup; exit" HUP; echo go; while :; do sleep 0.05; done'])
    t.expect('go')
    u = shell(c)
    u.type('sleep 1000\r')
    time.sleep(0.2)
    for x in t, u:
        os.kill(x.pid, signal.SIGKILL)
        os.waitpid(x.pid, 0)
    end = time.monotonic() + 120
    while time.monotonic() < end:
        # Only the cell's own sleep is left.
        r = subprocess.run([VIV, 'exec', c, 'sh', '-c', 'test -e /tmp/hup && set -- /proc/[0-9]* && test $# = 3'], stdin=subprocess.DEVNULL)
        if r.returncode == 0:
            return
        time.sleep(0.05)
    raise AssertionError('not hung up')


def garbage(path):
    """Anybody of the same user may send what he likes: messages of any size and content, descriptors too many and too few."""
    rnd = random.Random(5)
    for i in range(3000):
        s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        s.connect(path)
        for _ in range(rnd.randrange(1, 4)):
            size = rnd.choice([MESSAGE, MESSAGE, MESSAGE, MESSAGE, 0, 1, MESSAGE - 1, MESSAGE + 1, 4096])
            m = bytearray(rnd.randbytes(size))
            if size >= 16:
                # Known types, but nothing that ends or pauses the cell.
                m[0:4] = rnd.choice([1, 2, 2, 2, 3, 5, 10, 11, 12, 13, 14, 64, 70, 255]).to_bytes(4, 'little')
                if rnd.random() < 0.5:
                    m[8:12] = rnd.choice([0, 1, 2, 1 << 31]).to_bytes(4, 'little')
            fds = [rnd.choice([0, 1, 2]) for _ in range(rnd.choice([0, 0, 1, 3, 4, 5, 20]))]
            try:
                socket.send_fds(s, [bytes(m)], fds)
            except OSError:
                break
        s.close()


def stranger(path):
    s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    s.settimeout(120)
    s.connect(path)
    m = bytearray(MESSAGE)
    m[0:4] = (1).to_bytes(4, 'little')
    m[4:8] = (1).to_bytes(4, 'little')
    try:
        s.send(m)
        print('answered' if s.recv(MESSAGE) else 'closed')
    except (BrokenPipeError, ConnectionResetError):
        print('closed')


class Keeper:
    """A keeper of one's own, talked to as a daemon does (src/wire/keeper.h)."""
    HELLO, EXEC, SUBSCRIBE, FAIL, STARTED, EXITED, EVENT, OK = 1, 2, 14, 65, 66, 67, 69, 64

    def __init__(self, *words):
        os.makedirs(os.environ['XDG_RUNTIME_DIR'] + '/vivarium', exist_ok=True)
        file = os.memfd_create('words')
        os.write(file, b''.join(w.encode() + b'\0' for w in words))
        mine, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)

        def place():
            a, b = os.dup(file), os.dup(its.fileno())
            os.dup2(a, 3)
            os.dup2(b, 4)

        self.process = subprocess.Popen([os.path.join(os.path.dirname(VIV), 'viv-keeper')], preexec_fn=place, close_fds=False,
                                        stdin=subprocess.DEVNULL)
        its.close()
        os.close(file)
        m = mine.recv(MESSAGE)
        assert struct.unpack_from('I', m)[0] == self.HELLO, m
        self.id = words[words.index('--id') + 1]
        self.s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.s.connect(self.path('sock'))
        self.last = 0

    def path(self, end):
        return '%s/vivarium/cells/%s.%s' % (os.environ['XDG_RUNTIME_DIR'], self.id, end)

    def ask(self, kind, body=b'', n=0, fds=()):
        self.last += 1
        m = struct.pack('IIIiiiIIQq', kind, self.last, 0, 0, 0, 0, 0, 0, n, 0) + body
        socket.send_fds(self.s, [m.ljust(MESSAGE, b'\0')], list(fds))
        return self.last

    def take(self):
        m = self.s.recv(MESSAGE)
        if not m:
            return None
        kind, ident, proc, pid, a, b, flags, event, n, when = struct.unpack_from('IIIiiiIIQq', m)
        return dict(kind=kind, id=ident, proc=proc, pid=pid, a=a, b=b, event=event, n=n, text=m[48:].split(b'\0')[0].decode())

    def run(self, argv, flags, fds):
        words = b''.join(w.encode() + b'\0' for w in argv)
        spec = os.memfd_create('spec', os.MFD_ALLOW_SEALING)
        os.write(spec, struct.pack('QIIIIII', 0x3163657876697663, 32 + len(words), 1, len(argv), 0, 0, 0) + words)
        fcntl.fcntl(spec, 1033, 1 | 2 | 4 | 8)  # F_ADD_SEALS
        ident = self.ask(self.EXEC, struct.pack('IHHq', flags, 0, 0, 0), fds=[spec, *fds])
        os.close(spec)
        return ident


def warm():
    """An idle cell, given away: its first command is process 2, the cell ends with it, and what was asked for is left."""
    k = Keeper('--idle', '--id', 'warm1', '--leave')
    null = os.open('/dev/null', os.O_RDWR)
    r, w = os.pipe()
    # A process that is not the first: the cell goes on without it.
    x = k.run(['/nonexistent'], 8, [null, w, null])
    m = k.take()
    assert (m['kind'], m['id'], m['a']) == (k.FAIL, x, 127), m
    k.ask(k.SUBSCRIBE, n=1)
    assert k.take()['kind'] == k.OK
    x = k.run(['sh', '-c', 'echo $$; exit 6'], 8, [null, w, null])
    seen = []
    while (m := k.take()):
        seen.append(m)
    os.close(w)
    pid = os.read(r, 100).strip()
    kinds = [(m['kind'], m['id']) for m in seen]
    assert (k.STARTED, x) in kinds and (k.EXITED, x) in kinds, seen
    assert pid.decode() == str(next(m['pid'] for m in seen if m['kind'] == k.STARTED)), pid
    events = [m for m in seen if m['kind'] == k.EVENT]
    assert [m['n'] for m in events] == list(range(1, len(events) + 1)), events
    end = [m for m in events if m['event'] == 6]
    assert len(end) == 1 and end[0]['a'] == 6 and end[0]['b'] == 1, events
    k.process.wait(120)
    with open(k.path('end'), 'rb') as f:
        m = f.read()
    assert len(m) == MESSAGE and struct.unpack_from('i', m, 16)[0] == 6, m[:48]
    os.unlink(k.path('end'))
    # Fresh, it is process 2.
    k = Keeper('--idle', '--id', 'warm2')
    r, w = os.pipe()
    k.run(['sh', '-c', 'echo $$'], 8, [null, w, null])
    while k.take():
        pass
    os.close(w)
    assert os.read(r, 100) == b'2\n'
    k.process.wait(120)
    assert not os.listdir(os.path.dirname(k.path('x')))


def main():
    name, args = sys.argv[1], sys.argv[2:]
    if name in ('garbage', 'stranger', 'warm'):
        globals()[name](*args)
        return
    c = cell()
    try:
        globals()[name](c)
    finally:
        viv('kill', c)


main()
