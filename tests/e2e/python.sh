# Python's standard library, as programs use it. The host's python3 on both sides. shellcheck shell=bash

same 'subprocess @r' python3 <<'EOF'
import subprocess as s, os, sys
print(s.run(['sh', '-c', 'cat; echo err >&2; exit 3'], input=b'in', capture_output=True))
print(s.check_output('echo $X | tr a-z A-Z', shell=True, env={'X': 'shell', 'PATH': os.environ['PATH']}))
p = s.Popen(['cat'], stdin=s.PIPE, stdout=s.PIPE); print(len(p.communicate(b'x' * 1000000)[0]), p.returncode)
p = s.Popen(['sleep', '100']); print(p.poll()); p.terminate(); print(p.wait())
try: s.run(['sleep', '5'], timeout=0.1)
except s.TimeoutExpired as e: print('timeout', e.cmd)
try: s.run(['/nowhere'])
except FileNotFoundError as e: print(e)
try: s.run(['cat'], cwd='/nowhere')
except FileNotFoundError as e: print(e)
print(s.run(['pwd'], cwd='/', stdout=s.PIPE).stdout, s.run('ulimit -c', shell=True, preexec_fn=lambda: os.nice(1), stdout=s.PIPE).returncode)
ps = [s.Popen(['sh', '-c', f'exit {i}']) for i in range(20)]; print([q.wait() for q in ps])
r, w = os.pipe(); print(s.run(['sh', '-c', f'echo passed >&{w}'], pass_fds=[w]).returncode, os.read(r, 100))
print(s.run([sys.executable, '-c', 'import os; print(os.getsid(0) == os.getpid())'], start_new_session=True, stdout=s.PIPE).stdout)
print(os.system('exit 5') >> 8, os.popen('echo popen').read())
EOF

same 'threading, queue, concurrent.futures @r' python3 <<'EOF'
import threading, queue, concurrent.futures as cf, time
lock = threading.Lock(); n = 0
def add():
    global n
    for _ in range(2000):
        with lock: n += 1
ts = [threading.Thread(target=add) for _ in range(32)]; [t.start() for t in ts]; [t.join() for t in ts]; print(n)
q = queue.Queue(10); out = []
def work():
    while (x := q.get()) is not None: out.append(x * x)
ws = [threading.Thread(target=work) for _ in range(4)]; [w.start() for w in ws]
for i in range(500): q.put(i)
for _ in ws: q.put(None)
[w.join() for w in ws]; print(sum(out), len(out))
e = threading.Event(); t = threading.Timer(0.05, e.set); t.start(); print(e.wait(5), e.wait(0))
b = threading.Barrier(8); r = []; ts = [threading.Thread(target=lambda: r.append(b.wait())) for _ in range(8)]; [t.start() for t in ts]; [t.join() for t in ts]; print(sorted(r))
with cf.ThreadPoolExecutor(8) as p: print(sum(p.map(lambda x: x + 1, range(1000))))
c = threading.Condition()
with c: t0 = time.monotonic(); print(c.wait(0.05), time.monotonic() - t0 >= 0.05)
s = threading.Semaphore(0); print(s.acquire(timeout=0.02)); l = threading.local(); l.x = 1; print(l.x)
EOF

same 'multiprocessing: Pool, Queue, Manager-free sharing @r' python3 <<'EOF'
import multiprocessing as m, os, signal
def sq(x): return x * x
def put(q, i): q.put((i, os.getpid() != os.getppid()))
def inc(v, l):
    for _ in range(200):
        with l: v.value += 1
def pipe(c): c.send(c.recv()[::-1]); c.close()
if __name__ == '__main__':
    with m.Pool(4) as p:
        print(p.map(sq, range(200))[-1], sum(p.imap_unordered(sq, range(100))), p.apply_async(sq, (9,)).get(10))
    q = m.Queue(); ps = [m.Process(target=put, args=(q, i)) for i in range(8)]; [p.start() for p in ps]
    print(sorted(q.get(timeout=300) for _ in ps)); [p.join() for p in ps]; print([p.exitcode for p in ps])
    v, l = m.Value('i', 0), m.Lock(); ps = [m.Process(target=inc, args=(v, l)) for _ in range(4)]; [p.start() for p in ps]; [p.join() for p in ps]; print(v.value)
    a, b = m.Pipe(); p = m.Process(target=pipe, args=(b,)); p.start(); a.send('abc'); print(a.recv()); p.join()
    e = m.Event(); p = m.Process(target=e.wait); p.start(); e.set(); p.join(150); print(p.exitcode)
    from multiprocessing import shared_memory as sm
    s = sm.SharedMemory(create=True, size=4096); s.buf[:3] = b'xyz'; t = sm.SharedMemory(s.name); print(bytes(t.buf[:3])); t.close(); s.close(); s.unlink()
    p = m.Process(target=signal.pause); p.start(); p.terminate(); p.join(); print(p.exitcode)
    c = m.get_context('spawn'); p = c.Process(target=sq, args=(3,)); p.start(); p.join(20); print(p.exitcode)
    arr = m.Array('d', 10); arr[3] = 1.5; print(list(arr)[:5])
EOF

same 'asyncio: sleep, tasks, subprocesses, pipes @r' python3 <<'EOF'
import asyncio, sys, signal, os
async def t(i): await asyncio.sleep(0.01 * (5 - i)); return i
async def main():
    print(await asyncio.gather(*(t(i) for i in range(5))))
    try: await asyncio.wait_for(asyncio.sleep(5), 0.05)
    except asyncio.TimeoutError: print('timeout')
    p = await asyncio.create_subprocess_exec('sh', '-c', 'cat; exit 4', stdin=-1, stdout=-1); print(await p.communicate(b'data'), p.returncode)
    ps = [await asyncio.create_subprocess_shell(f'sleep 0.0{i}; echo {i}', stdout=-1) for i in range(6)]
    print([(await p.communicate())[0] for p in ps])
    q = asyncio.Queue(2); out = []
    async def prod():
        for i in range(10): await q.put(i)
        await q.put(None)
    async def cons():
        while (x := await q.get()) is not None: out.append(x)
    await asyncio.gather(prod(), cons()); print(out)
    loop = asyncio.get_running_loop(); print(await loop.run_in_executor(None, lambda: 42))
    f = loop.create_future(); loop.add_signal_handler(signal.SIGUSR1, lambda: f.set_result('signal')); os.kill(os.getpid(), signal.SIGUSR1); print(await f)
asyncio.run(main())
EOF

same 'sqlite3 on a file, with a journal and with a WAL' python3 <<'EOF'
import sqlite3, os, threading
for mode in 'delete', 'wal':
    n = mode + '.db'; c = sqlite3.connect(n, timeout=300); print(c.execute('pragma journal_mode=' + mode).fetchone())
    c.execute('create table t(id integer primary key, v text)'); c.executemany('insert into t(v) values(?)', ((str(i) * 5,) for i in range(2000))); c.commit()
    c.execute('create index i on t(v)'); print(c.execute('select count(*), max(id), sum(length(v)) from t').fetchone())
    c.execute('delete from t where id % 2'); c.rollback(); print(c.execute('select count(*) from t').fetchone())
    def w(k):
        d = sqlite3.connect(n, timeout=300)
        for j in range(10):
            with d: d.execute('insert into t(v) values(?)', (f'{k}-{j}',))
        d.close()
    ts = [threading.Thread(target=w, args=(k,)) for k in range(4)]; [t.start() for t in ts]; [t.join() for t in ts]
    print(c.execute('select count(*) from t').fetchone(), c.execute('pragma integrity_check').fetchone()); c.execute('vacuum'); c.close(); print(sorted(os.listdir('.')))
pid = os.fork()
if not pid:
    d = sqlite3.connect('wal.db'); d.execute('insert into t(v) values("child")'); d.commit(); d.close(); os._exit(0)
os.waitpid(pid, 0); print(sqlite3.connect('wal.db').execute('select count(*) from t where v="child"').fetchone())
EOF

same 'mmap' python3 <<'EOF'
import mmap, os
open('f', 'wb').write(b'a' * 10000); f = open('f', 'r+b'); m = mmap.mmap(f.fileno(), 0); print(len(m), m[:3]); m[5000:5004] = b'WXYZ'; m.flush()
print(open('f', 'rb').read()[4999:5005]); os.pwrite(f.fileno(), b'direct', 100); print(m[100:106], m.find(b'WXYZ')); m.resize(20000); print(len(m), os.stat('f').st_size); m[19999:] = b'!'; m.close(); print(open('f', 'rb').read()[-2:])
r = mmap.mmap(f.fileno(), 4096, prot=mmap.PROT_READ, offset=4096); print(r[904:908])
try: r[0] = 1
except TypeError as e: print(e)
p = mmap.mmap(f.fileno(), 0, flags=mmap.MAP_PRIVATE); p[0:4] = b'priv'; print(p[:4], open('f', 'rb').read(4))
a = mmap.mmap(-1, 8192); pid = os.fork()
if not pid: a[:5] = b'child'; os._exit(0)
os.waitpid(pid, 0); print(a[:5])
os.unlink('f'); print(p[5000:5004], r[904:908])
EOF

same 'tempfile, shutil, pathlib, os, glob @r' python3 <<'EOF'
import tempfile, shutil, pathlib, os, glob, stat, fcntl, select, signal, resource
with tempfile.TemporaryDirectory(dir='.') as d: open(d + '/x', 'w').write('1'); print(os.listdir(d))
print(os.path.exists(d)); f = tempfile.NamedTemporaryFile(dir='.'); f.write(b'abc'); f.flush(); print(os.stat(f.name).st_size, oct(os.stat(f.name).st_mode)); n = f.name; f.close(); print(os.path.exists(n))
t = tempfile.TemporaryFile(); t.write(b'q' * 100); t.seek(0); print(len(t.read())); s = tempfile.SpooledTemporaryFile(10); s.write(b'x' * 50); s.seek(0); print(len(s.read()))
p = pathlib.Path('a/b'); p.mkdir(parents=True); (p / 'f').write_text('hi'); (p / 'l').symlink_to('f'); shutil.copytree('a', 'c', symlinks=True); print(sorted(map(str, pathlib.Path('c').rglob('*'))), (p / 'l').readlink())
print(shutil.make_archive('z', 'zip', 'a').endswith('z.zip'), shutil.make_archive('z', 'gztar', 'a').endswith('gz')); shutil.unpack_archive('z.zip', 'u'); print(os.listdir('u/b') and sorted(glob.glob('u/**', recursive=True)))
shutil.move('c', 'm'); shutil.rmtree('m'); print(sorted(os.listdir('.'))); os.replace('z.zip', 'y'); os.link('y', 'k'); print(os.stat('k').st_nlink, os.path.samefile('y', 'k')); os.truncate('y', 3); os.utime('y', ns=(5, 7)); print(os.stat('y').st_mtime_ns)
with open('y') as f:
    fcntl.flock(f, fcntl.LOCK_EX | fcntl.LOCK_NB)
    with open('y') as g:
        try: fcntl.flock(g, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as e: print(e)
r, w = os.pipe(); print(select.select([r], [w], [], 0)[0]); os.write(w, b'1'); ep = select.epoll(); ep.register(r, select.EPOLLIN); print(ep.poll(1)[0][1]); os.setxattr('y', 'user.k', b'v') if 0 else None
with os.scandir('.') as it: print(sorted((e.name, e.is_dir(), e.is_symlink()) for e in it))
os.mkfifo('ff'); print(stat.S_ISFIFO(os.stat('ff').st_mode), os.cpu_count() == len(os.sched_getaffinity(0)), os.get_terminal_size is not None, resource.getrlimit(resource.RLIMIT_CORE)[0] >= -1)
signal.signal(signal.SIGALRM, lambda *a: print('alarm')); signal.setitimer(signal.ITIMER_REAL, 0.5); signal.pause(); print(signal.sigtimedwait([signal.SIGUSR1], 0.01))
EOF

same 'zipfile, tarfile, gzip, lzma, json, csv, hashlib, pickle' python3 <<'EOF'
import zipfile, tarfile, gzip, bz2, lzma, json, csv, hashlib, pickle, io, os, random, struct, datetime, decimal, re, ctypes, uuid, zlib
data = random.Random(1).randbytes(300000) + b'x' * 500000
with zipfile.ZipFile('z.zip', 'w', zipfile.ZIP_DEFLATED) as z: z.writestr('a/b', data); z.writestr('c', 'text')
with zipfile.ZipFile('z.zip') as z: print(z.testzip(), z.namelist(), z.read('a/b') == data, os.stat('z.zip').st_size < len(data)); z.extractall('x')
print(hashlib.sha256(open('x/a/b', 'rb').read()).hexdigest())
with tarfile.open('t.txz', 'w:xz') as t: t.add('x')
with tarfile.open('t.txz') as t: print(sorted(t.getnames()))
for m in gzip, bz2, lzma: m.open('f.c', 'wb').write(data); print(m.__name__, len(m.open('f.c').read()))
j = {'k': [1, 2.5, None, True, 'ü'], 'n': {'a': 'b'}}; json.dump(j, open('j', 'w')); print(json.load(open('j')) == j, json.dumps(j, sort_keys=True))
with open('c.csv', 'w', newline='') as f: csv.writer(f).writerows([[1, 'a,b'], [2, 'q"']])
print(list(csv.reader(open('c.csv')))); print(pickle.loads(pickle.dumps(j)) == j, zlib.crc32(data), struct.pack('<Iq', 1, 2).hex(), decimal.Decimal(1) / 7, datetime.datetime.fromtimestamp(0, datetime.timezone.utc))
print(ctypes.CDLL(None).abs(-5), ctypes.CDLL('libm.so.6') is not None, uuid.UUID(int=5), re.sub(r'(\w)(\d)', r'\2\1', 'a1b2'), len(os.urandom(10)), len({uuid.uuid4() for _ in range(100)}))
EOF

venv() {
	viv --workdir /tmp -- sh -c '
		python3 -m venv --without-pip plain && ./plain/bin/python -c "import sys; print(sys.prefix, sys.base_prefix)"
		python3 -m venv full && ./full/bin/pip --version && ./full/bin/python -c "import pip; print(pip.__file__)"' >out
	is "$(sed 1q out)" '/tmp/plain /usr'
	like "$(sed -n 2p out)" 'pip * from /tmp/full/lib/*'
	like "$(sed -n 3p out)" '/tmp/full/lib/*/pip/__init__.py'
}
check 'venv is created, with pip in it' venv

same 'sockets between processes of a cell: socketpair' python3 <<'EOF'
import socket, os
a, b = socket.socketpair(); pid = os.fork()
if not pid: a.close(); d = b.recv(100); b.sendall(d.upper()); os._exit(0)
b.close(); a.sendall(b'hello'); print(a.recv(100)); os.waitpid(pid, 0); print(a.recv(10))
EOF
