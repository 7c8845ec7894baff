"""No key is lost while a program changes the modes of its terminal: keys.py COMMAND...

COMMAND... is what runs a program on the terminal that it is given. What is typed and what the program has read must be the same, byte for
byte, although it goes from lines to single keys and back all the time."""
import hashlib
import random
import sys
import time

from terminal import Terminal

READER = r'''
import hashlib, os, select, termios
def mode(raw):
    a = termios.tcgetattr(0)
    a[3] &= ~termios.ECHO
    a[3] = a[3] & ~termios.ICANON if raw else a[3] | termios.ICANON
    a[6][termios.VMIN] = 1
    return a
modes = mode(False), mode(True)
termios.tcsetattr(0, termios.TCSADRAIN, modes[0])
os.write(1, b"ready\n")
got, n = b"", 0
while not got.endswith(b"END\n"):
    n += 1
    termios.tcsetattr(0, (termios.TCSANOW, termios.TCSADRAIN)[n & 1], modes[n % 3 > 0])
    if select.select([0], [], [], 0.002)[0]:
        got += os.read(0, 1 + n % 50)
termios.tcsetattr(0, termios.TCSADRAIN, modes[0])
os.write(1, b"sum %s\n" % hashlib.sha256(got).hexdigest().encode())
'''

rnd = random.Random(1)
text = b"".join(b"%06d\n" % i for i in range(1000)) + b"END\n"
t = Terminal(sys.argv[1:] + ["python3", "-c", READER])
t.expect("ready")
at = 0
while at < len(text):
    n = rnd.choice((1, 2, 7, 30, 100))
    t.type(text[at:at + n])
    at += n
    time.sleep(n * 0.0001)  # a terminal holds 4095 bytes that nobody reads
t.expect("sum " + hashlib.sha256(text).hexdigest())
