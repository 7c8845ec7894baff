"""A name server whose names have a public address, and a private one after the name flip was asked for."""
import socket
import struct
import sys

s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.bind(("127.0.0.1", int(sys.argv[1])))
flipped = False
while True:
    q, who = s.recvfrom(2048)
    end = q.index(b"\0", 12) + 5
    kind = struct.unpack(">H", q[end - 4:end - 2])[0]
    answer = b""
    if kind == 1:
        flipped |= q[12:].startswith(b"\4flip")
        address = "10.1.2.3" if flipped else "93.184.216.34"
        answer = b"\xc0\x0c\0\1\0\1\0\0\0\0\0\4" + socket.inet_aton(address)
    s.sendto(q[:2] + b"\x81\x80\0\1" + struct.pack(">H", 1 if answer else 0) + b"\0\0\0\0" + q[12:end] + answer, who)
