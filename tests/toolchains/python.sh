# Python's servers, shared memory, and pip. shellcheck shell=bash

tool_same 'http.server and urllib, many at once @r' python3 python3 <<'END'
import threading, http.server, urllib.request, urllib.error, concurrent.futures as cf
class H(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        b = self.rfile.read(int(self.headers['Content-Length'])); self.send_response(200); self.end_headers(); self.wfile.write(b[::-1])
    def do_GET(self): self.send_error(404)
    def log_message(self, *a): pass
s = http.server.ThreadingHTTPServer(('127.0.0.1', 0), H); threading.Thread(target=s.serve_forever, daemon=True).start()
u = 'http://127.0.0.1:%d/' % s.server_port
with cf.ThreadPoolExecutor(8) as p: print(sum(len(x) for x in p.map(lambda i: urllib.request.urlopen(u, b'ab' * i * 100).read(), range(1, 60))))
try: urllib.request.urlopen(u)
except urllib.error.HTTPError as e: print(e.code)
s.shutdown(); s.server_close()
try: urllib.request.urlopen(u)
except urllib.error.URLError as e: print(e.reason)
END

tool_same 'asyncio: server, subprocess, signals, unix sockets @r' python3 python3 <<'END'
import asyncio, signal, os
async def up(r, w):
    while (l := await r.readline()): w.write(l.upper()); await w.drain()
    w.close()
async def client(open_, i):
    r, w = await open_(); w.write(b'line %d\n' % i * 50); w.write_eof(); x = await r.read(); w.close(); return len(x)
async def main():
    s = await asyncio.start_server(up, '127.0.0.1', 0); a = s.sockets[0].getsockname()
    print(sum(await asyncio.gather(*[client(lambda: asyncio.open_connection(*a), i) for i in range(60)])))
    u = await asyncio.start_unix_server(up, 'sock'); print(await client(lambda: asyncio.open_unix_connection('sock'), 1))
    ps = [await asyncio.create_subprocess_exec('sh', '-c', f'cat; exit {i}', stdin=-1, stdout=-1) for i in range(5)]
    print([(await p.communicate(b'x' * 70000))[0].__len__() for p in ps], [p.returncode for p in ps])
    e = asyncio.Event(); asyncio.get_running_loop().add_signal_handler(signal.SIGUSR1, e.set); os.kill(os.getpid(), signal.SIGUSR1); await asyncio.wait_for(e.wait(), 5); print('signal')
    try: await asyncio.wait_for(asyncio.sleep(5), 0.05)
    except asyncio.TimeoutError: print('timeout')
    print(await asyncio.to_thread(sum, range(10)))
asyncio.run(main())
END

tool_same 'multiprocessing with shared memory: fork, spawn, forkserver @r' python3 python3 <<'END'
import multiprocessing as mp
from multiprocessing import shared_memory
def work(name, lock, q):
    s = shared_memory.SharedMemory(name=name)
    for _ in range(100):
        with lock: s.buf[0] = (s.buf[0] + 1) % 256
    s.close(); q.put(1)
if __name__ == '__main__':
    for m in ('fork', 'spawn', 'forkserver'):
        c = mp.get_context(m); s = shared_memory.SharedMemory(create=True, size=5000); q = c.Queue(); l = c.Lock()
        ps = [c.Process(target=work, args=(s.name, l, q)) for _ in range(2)]
        [p.start() for p in ps]; [q.get(timeout=30) for _ in ps]; [p.join() for p in ps]
        print(m, s.buf[0], [p.exitcode for p in ps]); s.close(); s.unlink()
    with mp.Manager() as man:
        d = man.dict(); ps = [mp.Process(target=d.__setitem__, args=(i, i * i)) for i in range(4)]; [p.start() for p in ps]; [p.join() for p in ps]; print(sorted(d.items()))
END

inside 'pip installs a local wheel into a venv' python3 $'tiny 7\ntinypkg 1.0\ngone' <<'END'
cat >make.py <<X
import zipfile
d = 'tinypkg-1.0.dist-info/'
with zipfile.ZipFile('tinypkg-1.0-py3-none-any.whl', 'w') as z:
    z.writestr('tinypkg/__init__.py', 'V = 7\ndef main(): print("tiny", V)\n')
    z.writestr(d + 'METADATA', 'Metadata-Version: 2.1\nName: tinypkg\nVersion: 1.0\n')
    z.writestr(d + 'WHEEL', 'Wheel-Version: 1.0\nGenerator: x\nRoot-Is-Purelib: true\nTag: py3-none-any\n')
    z.writestr(d + 'entry_points.txt', '[console_scripts]\ntiny = tinypkg:main\n')
    z.writestr(d + 'RECORD', '')
X
python3 make.py; python3 -m venv v; v/bin/pip install -q --no-index ./tinypkg-1.0-py3-none-any.whl 2>log || { cat log; exit 1; }
v/bin/tiny; v/bin/pip list --format freeze | sed -n 's/^tinypkg==/tinypkg /p'
v/bin/pip uninstall -qy tinypkg; v/bin/python -c 'import tinypkg' 2>/dev/null || echo gone
END
