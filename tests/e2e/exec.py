"""viv exec at terminals, and what else the shell cannot do: exec.py NAME [ARGUMENT]."""
import os
import random
import signal
import socket
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
    t.type('sleep 100\r')
    time.sleep(0.3)
    t.type('\x03')
    t.expect('P>')
    t.type('echo after $?\r')
    t.expect('after 130')
    t.type('sleep 101\r')
    time.sleep(0.3)
    t.type('\x1a')
    t.expect('Stopped')
    t.type('jobs\r')
    t.expect('sleep 101')
    t.type('fg\r')
    t.expect('sleep 101')
    time.sleep(0.2)
    t.type('\x03')
    t.expect('P>')
    # A new size reaches who asks, and who is told.
    t.type("trap 'echo winch $(stty size)' WINCH; echo set\r")
    t.expect('\rset\r\n')
    t.resize(40, 120)
    time.sleep(0.5)  # bash runs a trap when it has read a line after the signal
    t.type('\r')
    t.expect('winch 40 120')
    # Nothing is lost of much output, and a line is edited by the cell's terminal.
    t.type('seq 1 20000\r')
    t.expect('\n20000\r\n', 30)
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
        t.type('sleep 1%d; echo st $?\r' % 0)
    time.sleep(0.3)
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
    t = shell(c)
    t.type('tty\r')
    t.expect('/dev/pts/0')
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
    for _ in range(100):
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
    s.settimeout(5)
    s.connect(path)
    m = bytearray(MESSAGE)
    m[0:4] = (1).to_bytes(4, 'little')
    m[4:8] = (1).to_bytes(4, 'little')
    try:
        s.send(m)
        print('answered' if s.recv(MESSAGE) else 'closed')
    except (BrokenPipeError, ConnectionResetError):
        print('closed')


def main():
    name, args = sys.argv[1], sys.argv[2:]
    if name in ('garbage', 'stranger'):
        globals()[name](*args)
        return
    c = cell()
    try:
        globals()[name](c)
    finally:
        viv('kill', c)


main()
