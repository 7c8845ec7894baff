"""A terminal for tests: starts a command on a new pseudo-terminal, types, waits for output.

    t = Terminal([viv, 'run', '--', 'bash'])
    t.type('echo $((6*7))\r'); t.expect('42'); t.resize(40, 100); assert t.wait() == 0
"""
import fcntl
import os
import pty
import select
import signal
import struct
import sys
import termios
import time

VIV = os.environ['E2E_VIV']


class Terminal:
    def __init__(self, argv, rows=24, cols=80, env=None):
        self.out = b''
        self.mark = 0
        self.master, self.slave = os.openpty()
        self.resize(rows, cols)
        self.before = termios.tcgetattr(self.slave)
        self.pid = os.fork()
        if not self.pid:
            os.setsid()
            fcntl.ioctl(self.slave, termios.TIOCSCTTY, 0)
            for i in range(3):
                os.dup2(self.slave, i)
            os.closerange(3, 64)
            os.execvpe(argv[0], argv, env or dict(os.environ, TERM='xterm'))
        self.status = None

    def pump(self, seconds):
        """Takes what there is to read within that time: False when there was nothing."""
        if not select.select([self.master], [], [], seconds)[0]:
            return False
        try:
            d = os.read(self.master, 65536)
        except OSError:
            return False
        self.out += d
        return bool(d)

    def expect(self, text, seconds=150):
        """Waits for text after what was expected last."""
        want = text.encode() if isinstance(text, str) else text
        end = time.monotonic() + seconds
        while want not in self.out[self.mark:]:
            if time.monotonic() > end:
                raise AssertionError(f'{text!r} did not come; got {self.out[self.mark:]!r}')
            self.pump(0.1)
        self.mark = self.out.index(want, self.mark) + len(want)

    def type(self, text):
        os.write(self.master, text.encode() if isinstance(text, str) else text)

    def resize(self, rows, cols):
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack('HHHH', rows, cols, 0, 0))

    def attributes(self):
        return termios.tcgetattr(self.slave)

    def is_raw(self):
        return not self.attributes()[3] & termios.ICANON

    def soon(self, what, seconds=150):
        end = time.monotonic() + seconds
        while not what():
            assert time.monotonic() < end, f'not in time; output so far {self.out!r}'
            self.pump(0.05)

    def wait(self, seconds=150):
        """The exit status, as a shell would say it; checks that the terminal is as it was."""
        end = time.monotonic() + seconds
        while True:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                break
            if time.monotonic() > end:
                os.kill(self.pid, signal.SIGKILL)
                raise AssertionError(f'did not end; output {self.out!r}')
            self.pump(0.05)
        while self.pump(0.05):
            pass
        assert self.attributes() == self.before, f'terminal changed: {self.before} {self.attributes()}'
        return os.waitstatus_to_exitcode(status)
