"""Verbs at a terminal, for verbs.sh: python3 verbs.py top|shell|prune VIV, or zsh DIRECTORY."""
import fcntl, os, pty, re, select, signal, struct, subprocess, sys, termios, time

LIMIT = 150


class Terminal:
    def __init__(self, words, rows=24, cols=100, env=None):
        self.master, self.slave = pty.openpty()
        self.size(rows, cols)
        self.before = termios.tcgetattr(self.slave)
        self.out = b''
        self.p = subprocess.Popen(words, stdin=self.slave, stdout=self.slave, stderr=self.slave, start_new_session=True,
                                  preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
                                  env={**os.environ, 'TERM': 'xterm', **(env or {})})

    def size(self, rows, cols):
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack('HHHH', rows, cols, 0, 0))

    def read(self, seconds=0.2):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if select.select([self.master], [], [], 0.05)[0]:
                try:
                    self.out += os.read(self.master, 65536)
                except OSError:
                    return

    def until(self, pattern, what=None):
        end = time.monotonic() + LIMIT
        while not re.search(pattern, self.out, re.S):
            assert time.monotonic() < end, (what or pattern, self.out[-2000:])
            self.read()

    def type(self, text):
        self.out = b''
        os.write(self.master, text)

    def end(self, status=0):
        stop = time.monotonic() + LIMIT
        while self.p.poll() is None:
            assert time.monotonic() < stop, ('no end', self.out[-2000:])
            self.read()
        self.read()
        assert self.p.returncode == status, (self.p.returncode, self.out[-2000:])

    def restored(self):
        assert termios.tcgetattr(self.slave) == self.before, 'the terminal is not as it was'
        assert self.out.count(b'\x1b[?1049h') == self.out.count(b'\x1b[?1049l') or self.out.rstrip().endswith(b'\x1b[?1049l'), self.out[-300:]


def top(viv):
    t = Terminal([viv, 'top', '-d', '200ms'])
    t.until(rb'\x1b\[\?1049h.*\x1b\[H.*viv top - .*shown .*running')
    # The second look knows what was used since the first: one processor, or what the machine leaves of it.
    t.until(rb'shown +running +[1-9][0-9]*\.[0-9] ')
    assert not termios.tcgetattr(t.slave)[3] & termios.ICANON
    for key, name in ((b'm', b'memory'), (b'n', b'name'), (b's', b'calls'), (b'd', b'disk'), (b't', b'tasks'), (b'c', b'cpu')):
        t.type(key)
        t.until(rb'by ' + name)
    t.type(b'r')
    t.until(rb'by cpu, reversed')
    t.size(10, 40)
    t.out = b''
    t.until(rb'\x1b\[H.*\x1b\[J')
    t.out = b''
    t.until(rb'\x1b\[H[^\x1b].*\x1b\[J')
    picture = t.out[t.out.index(b'\x1b[H'):].split(b'\x1b[J')[0]
    for line in picture.replace(b'\x1b[H', b'').split(b'\r\n'):
        bare = re.sub(rb'\x1b\[[0-9;]*[A-Za-z]', b'', line).rstrip(b'\r')
        assert len(bare) <= 40, bare
    t.type(b'q')
    t.end()
    t.restored()
    # However it is ended.
    for sig in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        t = Terminal([viv, 'top', '-d', '200ms'])
        t.until(rb'shown')
        t.p.send_signal(sig)
        t.end()
        t.restored()
    t = Terminal([viv, 'top', '-d', '200ms'])
    t.until(rb'shown')
    t.type(b'\x03')
    t.end()
    t.restored()
    # Its colours go with NO_COLOR; those of ps are there at a terminal.
    t = Terminal([viv, 'ps'])
    t.end()
    assert b'\x1b[32mrunning' in t.out, t.out
    t = Terminal([viv, 'ps'], env={'NO_COLOR': '1'})
    t.end()
    assert b'running' in t.out and b'\x1b' not in t.out, t.out
    # Without a terminal: tables, one after the other.
    out = subprocess.run([viv, 'top', '-n', '2', '-d', '200ms'], stdin=subprocess.DEVNULL, capture_output=True, timeout=LIMIT, check=True).stdout
    assert out.count(b'viv top - ') == 2 and b'\x1b' not in out, out


def shell(viv):
    t = Terminal([viv, 'shell', 'shown'])
    t.until(rb'[#$] $')
    t.type(b'tty; echo $0-$-; stty size\r')
    t.until(rb'/dev/pts/0\r\n.*bash-[a-zA-Z]*i[a-zA-Z]*\r\n24 100')
    t.type(b'shopt -q login_shell && echo "log"in\r')
    t.until(rb'[\r\n]login\r')
    t.type(b'exit 9\r')
    t.end(9)
    assert termios.tcgetattr(t.slave) == t.before


def prune(viv):
    made = subprocess.run([viv, 'create', '--', 'true'], capture_output=True, text=True, timeout=LIMIT, check=True).stdout.strip()
    listed = lambda: subprocess.run([viv, 'ls', '-q'], capture_output=True, text=True, timeout=LIMIT, check=True).stdout.split()
    for answer, left in ((b'n\r', True), (b'\r', True), (b'y\r', False)):
        t = Terminal([viv, 'prune'])
        t.until(made.encode() + rb'.*\[y/N\] ')
        t.type(answer)
        t.end()
        assert (made in listed()) == left, answer
    assert 'shown' in listed()


def zsh(directory):
    env = {'HOME': directory, 'PATH': directory + ':' + os.environ['PATH'], 'PS1': 'ready> ', 'ZDOTDIR': directory}
    t = Terminal(['zsh', '-f', '-i'], env=env)
    t.until(rb'ready> ')
    t.type(b'cd %s; fpath=(%s $fpath); autoload -U compinit; compinit -u -D; setopt auto_list no_menu_complete; echo "set"up\r' % (directory.encode(), directory.encode()))
    t.until(rb'\nsetup.*ready> ')
    t.type(b'viv rest\t')
    t.until(rb'viv restart')
    t.type(b'al\t')
    t.until(rb'alpha')
    t.type(b'\x15viv volume \t')
    t.until(rb'create +inspect +ls +prune +rm')
    t.type(b'\x15viv stop --ti\t')
    t.until(rb'--time')
    t.type(b'\x15exit\r')
    t.end()


globals()[sys.argv[1]](*sys.argv[2:])
