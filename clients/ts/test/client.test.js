// Against a real vivd, whose socket is where the environment says (XDG_RUNTIME_DIR). With VIVARIUM_TEST_URL and VIVARIUM_TEST_TOKEN, over TCP as well.
import assert from 'node:assert/strict';
import { createHash, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import net from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { defaultSocket, Vivarium, VivariumError } from '../src/index.js';

const viv = new Vivarium();
/** @type {import('../src/index.js').Cell} */
let cell;

before(async () => {
	cell = await viv.cells.create({ start: true, env: { FROM: 'cell' }, labels: { of: 'test' } });
});
after(async () => {
	await cell.remove({ force: true });
	viv.close();
});

/** @param {NodeJS.ReadableStream} stream */
async function text(stream) {
	let all = '';
	for await (const part of stream)
		all += part;
	return all;
}

/**
 * @param {() => Promise<boolean>} condition
 * @param {string} what
 */
async function soon(condition, what) {
	const end = Date.now() + 30_000;
	while (!(await condition())) {
		assert.ok(Date.now() < end, `not soon: ${what}`);
		await sleep(20);
	}
}

/** @param {string} code @param {number} status */
const refused = (code, status) => (/** @type {unknown} */ e) =>
	e instanceof VivariumError && e.code === code && e.status === status && e.message !== '';

test('version and errors', async () => {
	const version = await viv.version();
	assert.equal(version.api, 'v1');
	assert.equal(version.socket, defaultSocket());
	await assert.rejects(viv.cells.get('nobody'), refused('not_found', 404));
	await assert.rejects(viv.cells.create({ name: 'a/b' }), refused('invalid', 400));
	// @ts-expect-error: an unknown field
	await assert.rejects(viv.cells.create({ colour: 'red' }), { name: 'VivariumError', status: 400 });
	await assert.rejects(new Vivarium({ socket: '/no/such/socket' }).version(), (e) =>
		e instanceof VivariumError && e.code === 'no_daemon' && /viv daemon start/.test(e.remedy ?? ''));
	assert.throws(() => new Vivarium({ url: 'ftp://x' }), TypeError);
	await assert.rejects(viv.version({ signal: AbortSignal.abort() }), { name: 'AbortError' });
});

test('the life of a cell', async () => {
	const idempotencyKey = randomUUID();
	const c = await viv.cells.create({ name: 'ts-life' }, { idempotencyKey });
	assert.equal((await viv.cells.create({ name: 'ts-life' }, { idempotencyKey })).id, c.id);
	assert.equal(c.state, 'created');
	await c.start();
	assert.equal(c.state, 'running');
	await assert.rejects(c.start(), refused('wrong_state', 409));
	await c.pause();
	assert.equal((await viv.cells.get('ts-life')).state, 'paused');
	await assert.rejects(c.exec('true'), refused('wrong_state', 409));
	await c.resume();
	await c.sleep();
	assert.equal(c.state, 'sleeping');
	assert.equal((await c.exec('echo woken')).stdout, 'woken\n');
	await c.sleep({ grace: 1 });
	await c.wake();
	assert.equal(c.state, 'running');
	await c.exec('echo kept >/root/file || echo kept >/tmp/file');
	const pid = c.info.pid;
	await c.update({ limits: { pids: 20, memory: 256 << 20 }, labels: { of: 'life' } });
	assert.deepEqual([c.info.pid, c.info.labels], [pid, { of: 'life' }]);
	assert.equal((await c.exec('cat /sys/fs/cgroup/pids.max')).stdout, '20\n');
	await c.update({ limits: { memory: null } });
	assert.deepEqual(c.info.spec.limits, { pids: 20 });
	await assert.rejects(c.update({ limits: { pids: 5000 } }), refused('conflict', 409));
	await c.restart({ grace: 0.1 });
	assert.notEqual(c.info.pid, pid);
	assert.equal((await c.exec('cat /root/file /tmp/file 2>/dev/null')).stdout, 'kept\n');
	await c.snapshots.create('zero');
	await c.exec('echo more >/root/file');
	await c.rollback('zero', { grace: 0.1 });
	assert.equal(c.state, 'running');
	assert.equal((await c.exec('cat /root/file /tmp/file 2>/dev/null')).stdout, 'kept\n');
	await assert.rejects(c.rollback('none'), refused('not_found', 404));
	await c.snapshots.remove('zero');
	await c.stop({ grace: 0.1 });
	assert.equal(c.state, 'stopped');
	assert.equal((await c.wait()).info.reason, 'asked');
	await c.snapshots.create('one');
	await c.files.write('/root/new', 'text\n');
	/** @type {import('../src/index.js').Change[]} */
	const changes = [];
	for await (const change of c.diff({ snapshot: 'one' }))
		changes.push(change);
	assert.deepEqual(changes, [{ kind: 'A', path: '/root/new' }]);
	assert.match(await c.patch({ snapshot: 'one' }), /\+text\n/);
	const fork = await c.fork(`fork-${randomUUID()}`, { snapshot: 'one' });
	assert.deepEqual(await fork.verify(), { sound: true, problems: [] });
	await fork.remove();
	assert.ok((await c.snapshots.list()).some((s) => s.name === 'one'));
	await c.snapshots.remove('one');
	assert.deepEqual(await c.snapshots.list(), []);
	await assert.rejects(c.snapshots.remove('one'), refused('not_found', 404));
	assert.deepEqual(await c.policy(), []);
	assert.deepEqual(await c.setPolicy(['use git', 'allow  net example.org']), ['use git', 'allow net example.org']);
	assert.deepEqual(await c.addPolicy(['deny net gitlab.com']), ['use git', 'allow net example.org', 'deny net gitlab.com']);
	assert.deepEqual(await c.checkPolicy({ connect: 'https://example.org/' }), { verdict: 'allow', rule: 'allow net example.org', origin: 'policy, line 2' });
	assert.equal((await c.checkPolicy({ connect: 'gitlab.com:22' })).verdict, 'deny');
	await assert.rejects(c.setPolicy(['allow nett x']), refused('invalid_file', 400));
	assert.deepEqual(await c.learnPolicy(), { rules: [], looked_up: [], complete: true });
	await c.forgetPolicy();
	await c.rename('ts-life-2');
	assert.equal(c.name, 'ts-life-2');
	assert.deepEqual((await viv.cells.list({ name: 'ts-life-2' })).map((x) => x.id), [c.id]);
	assert.ok((await viv.cells.list({ label: 'of=test', state: 'running' })).some((x) => x.id === cell.id));
	await c.remove();
	await assert.rejects(c.refresh(), refused('not_found', 404));
});

test('exec gives what a command wrote, and its end', async () => {
	const r = await cell.exec(['sh', '-c', 'echo "$FROM $MORE"; pwd; cat; echo e >&2; exit 3'], { env: { MORE: 'exec' }, workdir: '/tmp', stdin: 'in' });
	assert.deepEqual([r.exitCode, r.stdout, r.stderr], [3, 'cell exec\n/tmp\nin', 'e\n']);
	const bytes = Buffer.from([...Array(256).keys()]);
	assert.deepEqual((await cell.exec('cat', { stdin: bytes })).stdoutBytes, bytes);
	assert.deepEqual(await cell.exec('sleep 100', { timeout: 0.2 }).then(({ exitCode, signal, timedOut }) => ({ exitCode, signal, timedOut })), { exitCode: 124, signal: 15, timedOut: true });
	assert.deepEqual(await cell.exec('kill -9 $$').then(({ exitCode, signal }) => ({ exitCode, signal })), { exitCode: 137, signal: 9 });
	assert.equal((await cell.exec(['head', '-c', '5000000', '/dev/zero'])).stdoutBytes.length, 5_000_000);
	await assert.rejects(cell.exec(['/no/such']), refused('command_not_found', 422));
	await assert.rejects(cell.exec('yes', { maxBuffer: 100_000 }), refused('too_large', 0));
	const stop = new AbortController();
	const running = cell.exec('echo >/tmp/runs; sleep 1000', { signal: stop.signal });
	await soon(async () => (await cell.exec('test -e /tmp/runs')).exitCode === 0, 'it runs');
	stop.abort();
	await assert.rejects(running, { name: 'AbortError' });
	await soon(async () => !/sleep/.test((await cell.exec('cat /proc/[0-9]*/comm')).stdout), 'it was hung up on');
	const many = await Promise.all([...Array(20).keys()].map((i) => cell.exec(`echo ${i}`)));
	assert.deepEqual(many.map((x) => Number(x.stdout)), [...Array(20).keys()]);
});

test('spawn: streams both ways', async () => {
	const p = await cell.spawn('while read x; do echo "got $x"; done; echo end >&2; exit 4');
	assert.ok(p.proc > 0 && p.pid > 0);
	const err = text(p.stderr);
	p.stdin.write('one\n');
	assert.equal(String((await once(p.stdout, 'data'))[0]), 'got one\n');
	p.stdin.end('two\n');
	assert.equal(await text(p.stdout), 'got two\n');
	assert.equal(await err, 'end\n');
	assert.deepEqual(await p.exit, { exitCode: 4 });
	await assert.rejects(cell.spawn(['/no/such']), refused('command_not_found', 422));
	await assert.rejects(cell.spawn([]), refused('invalid', 400));
	await assert.rejects(cell.spawn('true', { signal: AbortSignal.abort() }), { name: 'AbortError' });
});

test('spawn: much, and every byte of it', async () => {
	const p = await cell.spawn('cat; echo done >&2');
	const data = Buffer.alloc(8 << 20);
	for (let i = 0; i < data.length; i++)
		data[i] = (i * 7 + (i >> 8)) & 255;
	const hash = createHash('sha256');
	const reading = (async () => {
		for await (const part of p.stdout)
			hash.update(part);
	})();
	await pipeline([data], p.stdin);
	await reading;
	assert.equal(hash.digest('hex'), createHash('sha256').update(data).digest('hex'));
	assert.equal(await text(p.stderr), 'done\n');
	assert.deepEqual(await p.exit, { exitCode: 0 });
});

test('spawn: who does not read stops the process', async () => {
	const p = await cell.spawn('yes 0123456789abcde | head -c 16000000; echo >/tmp/all');
	p.stderr.resume();
	await sleep(500);
	assert.equal((await cell.exec('test -e /tmp/all')).exitCode, 1);
	assert.ok(p.stdout.readableLength < 4 << 20);
	let n = 0;
	for await (const part of p.stdout)
		n += part.length;
	assert.equal(n, 16_000_000);
	assert.deepEqual(await p.exit, { exitCode: 0 });
});

test('spawn: a terminal, sizes, signals, hanging up', async () => {
	const t = await cell.spawn('stty size; read x; stty size; exit 5', { tty: true, rows: 31, cols: 97 });
	assert.equal(String((await once(t.stdout, 'data'))[0]), '31 97\r\n');
	t.resize(40, 120);
	t.stdin.write('\n');
	assert.match(await text(t.stdout), /40 120/);
	assert.equal((await t.exit).exitCode, 5);
	const s = await cell.spawn(['sleep', '1000']);
	s.kill('SIGINT');
	assert.deepEqual(await s.exit, { exitCode: 130, signal: 2 });
	assert.throws(() => s.kill(99), TypeError);
	const stop = new AbortController();
	const h = await cell.spawn("exec 2>/dev/null; trap 'echo >/tmp/hup; exit' HUP; echo ready; while :; do sleep 0.05; done", { signal: stop.signal });
	await once(h.stdout, 'data');
	stop.abort();
	await assert.rejects(h.exit, { name: 'AbortError' });
	await soon(async () => (await cell.exec('test -e /tmp/hup')).exitCode === 0, 'it got SIGHUP');
	const closed = await cell.spawn('exec <&-; echo ready; exec sleep 1000');
	await once(closed.stdout, 'data');
	closed.stdin.write('x');
	await once(closed.stdin, 'close');
	closed.kill('SIGKILL');
	assert.equal((await closed.exit).signal, 9);
});

test('attach: a process that outlives its clients', async () => {
	const p = await cell.spawn('while read x; do echo "got $x"; done; exit 3', { detachable: true });
	p.stdin.write('1\n');
	assert.equal(String((await once(p.stdout, 'data'))[0]), 'got 1\n');
	const { proc, cursor } = p;
	assert.equal(cursor, 6);
	p.hangUp();
	await cell.input(proc, '2\n');
	const q = await cell.attach(proc, { cursor });
	assert.equal(q.proc, proc);
	q.stdin.end('3\n');
	assert.equal(await text(q.stdout), 'got 2\ngot 3\n');
	assert.deepEqual([(await q.exit).exitCode, q.cursor, q.dropped], [3, 18, 0]);
	assert.equal(await text((await cell.attach(proc)).stdout), 'got 1\ngot 2\ngot 3\n');
	await assert.rejects(cell.input(proc, 'x'), refused('closed', 409));
	await assert.rejects(cell.attach(999), refused('not_found', 404));
	const d = await cell.detach(['cat'], { stdinOpen: true });
	await cell.input(d.proc, 'in', { close: true });
	assert.equal(await text((await cell.attach(d.proc)).stdout), 'in');
});

test('detached processes, logs, figures', async () => {
	const { proc } = await cell.detach('echo kept; echo error >&2; exit 6');
	assert.deepEqual(await cell.waitFor(proc), { exitCode: 6 });
	const seen = [];
	for await (const line of cell.logs({ proc }))
		seen.push([line.stream, line.text]);
	assert.deepEqual(seen.sort(), [['stderr', 'error\n'], ['stdout', 'kept\n']]);
	const long = await cell.detach(['sleep', '1000']);
	assert.ok((await cell.processes()).some((p) => p.proc === long.proc && !p.ended));
	await cell.signal(long.proc, 'SIGKILL');
	assert.deepEqual(await cell.waitFor(long.proc), { exitCode: 137, signal: 9 });
	const stats = await cell.stats();
	assert.ok(stats.memory > 0 && stats.system_calls > 0);
	const waiting = cell.wait({ signal: AbortSignal.timeout(100) });
	await assert.rejects(waiting, /abort|timeout/i);
});

test('images, volumes, tokens', async () => {
	assert.ok(Array.isArray(await viv.images.list()));
	assert.deepEqual((await viv.images.page({ limit: 1 })).images.map((i) => i.id), ['host']);
	assert.ok((await viv.cells.page({ limit: 1 })).cells.length <= 1);
	await viv.volumes.create('ts-volume');
	assert.ok((await viv.volumes.list()).some((v) => v.name === 'ts-volume'));
	assert.deepEqual((await viv.volumes.get('ts-volume')).cells, []);
	assert.ok((await viv.volumes.prune({ dryRun: true })).volumes.some((v) => v.name === 'ts-volume'));
	assert.ok((await viv.diskUsage()).volumes.size > 0);
	await viv.volumes.remove('ts-volume');
	const made = await viv.tokens.create({ scope: 'cell', cell: cell.id, name: 'ts' });
	assert.match(made.token, /^viv_/);
	assert.equal((await viv.tokens.get(made.id)).scope, 'cell');
	const narrow = new Vivarium({ socket: defaultSocket(), token: made.token });
	assert.deepEqual((await narrow.cells.list()).map((c) => c.id), [cell.id]);
	assert.equal((await (await narrow.cells.get(cell.id)).exec('echo mine')).stdout, 'mine\n');
	await assert.rejects(narrow.volumes.list(), refused('forbidden', 403));
	await viv.tokens.remove(made.id);
	const secret = await viv.secrets.set('ts-key', { value: 'a-value-of-typescript', hosts: ['api.example.org'], places: ['header x-key'] });
	assert.equal(secret.env, 'TS_KEY');
	assert.ok(!JSON.stringify([secret, await viv.secrets.get('ts-key'), await viv.secrets.list()]).includes('a-value'));
	await viv.secrets.remove('ts-key');
	assert.deepEqual(await viv.secrets.list(), []);
	await assert.rejects(narrow.version(), refused('unauthorized', 401));
	narrow.close();
});

test('events: in order, from any on, over lost connections', async () => {
	const all = [];
	for await (const e of viv.events({ since: 0, follow: false }))
		all.push(e);
	const numbers = all.flatMap((e) => ('seq' in e ? [e.seq] : []));
	assert.deepEqual(numbers, [...numbers].sort((a, b) => a - b));
	const last = numbers.at(-1) ?? 0;
	assert.ok(last > 0);
	// Through something that cuts connections, again and again.
	/** @type {Set<net.Socket>} */
	const through = new Set();
	const path = join(mkdtempSync(join(tmpdir(), 'viv-ts-')), 'cut');
	const cut = net.createServer((a) => {
		const b = net.connect(defaultSocket());
		through.add(a);
		a.pipe(b).pipe(a);
		for (const [one, other] of [[a, b], [b, a]])
			one?.on('error', () => {}).on('close', () => other?.destroy());
	}).listen(path);
	await once(cut, 'listening');
	const stop = new AbortController();
	const far = new Vivarium({ socket: path });
	const stream = far.events({ since: last, signal: stop.signal });
	/** @type {number[]} */
	const seen = [];
	for (let i = 0; i < 5; i++) {
		const next = stream.next();
		const { id } = await viv.tokens.create({ scope: 'read' });
		await viv.tokens.remove(id);
		for (const e of [(await next).value, (await stream.next()).value])
			if (e && 'seq' in e)
				seen.push(e.seq);
		for (const socket of through)
			socket.destroy();
		through.clear();
	}
	assert.deepEqual(seen, [...Array(10).keys()].map((i) => last + 1 + i));
	const waiting = stream.next();
	setTimeout(() => stop.abort(), 50);
	await assert.rejects(waiting, { name: 'AbortError' });
	far.close();
	cut.close();
	rmSync(dirname(path), { recursive: true });
	await assert.rejects(new Vivarium({ socket: '/no/such' }).events().next(), refused('no_daemon', 0));
});

const url = process.env.VIVARIUM_TEST_URL;
test('over TCP, with a token', { skip: url ? false : 'VIVARIUM_TEST_URL is not set' }, async () => {
	const token = process.env.VIVARIUM_TEST_TOKEN ?? '';
	const remote = new Vivarium({ url: url ?? '', token });
	await assert.rejects(new Vivarium({ url: url ?? '' }).version(), refused('unauthorized', 401));
	const c = await remote.cells.get(cell.id);
	assert.equal((await c.exec('echo far')).stdout, 'far\n');
	const p = await c.spawn('read x; echo "$x"');
	p.stdin.end('there\n');
	assert.equal(await text(p.stdout), 'there\n');
	remote.close();
});

test('files', async () => {
	const f = cell.files;
	await f.mkdir('/root/tree/deep', { parents: true });
	await f.write('/root/tree/a', 'content', { mode: 0o600 });
	assert.equal((await f.read('/root/tree/a')).toString(), 'content');
	assert.equal((await f.read('/root/tree/a', { start: 3, end: 5 })).toString(), 'te');
	assert.equal((await f.read('/root/tree/a', { start: 5, end: 5 })).length, 0);
	const info = await f.stat('/root/tree/a');
	assert.deepEqual([info.type, info.size, info.mode], ['file', 7, '0600']);
	// Larger than any buffer on the way, from a stream.
	const part = Buffer.alloc(1 << 20, 'x');
	await f.write('/root/tree/large', (async function* () {
		for (let i = 0; i < 20; i++)
			yield part;
	})());
	let size = 0;
	for await (const bytes of f.stream('/root/tree/large'))
		size += bytes.length;
	assert.equal(size, 20 << 20);
	const names = [];
	for await (const e of f.list('/root/tree', { recursive: true }))
		names.push(e.path);
	assert.deepEqual(names.sort(), ['/root/tree/a', '/root/tree/deep', '/root/tree/large']);
	await f.move('/root/tree/large', '/root/tree/deep/b');
	await f.mkdir('/root/copy');
	await f.unpack('/root/copy', await f.pack('/root/tree'));
	assert.equal((await f.stat('/root/copy/tree/deep/b')).size, 20 << 20);
	await assert.rejects(f.remove('/root/copy'), { name: 'VivariumError', status: 409 });
	await f.remove('/root/copy', { recursive: true });
	await assert.rejects(f.read('/root/copy/tree/a'), { name: 'VivariumError', status: 404 });
	// What fails while it is sent is an error, and leaves nothing.
	await assert.rejects(f.write('/root/tree/broken', (async function* () {
		yield part;
		throw new Error('broken off');
	})()));
	await assert.rejects(f.stat('/root/tree/broken'), { name: 'VivariumError', status: 404 });
	const stop = new AbortController();
	const seen = f.watch('/root/tree', { signal: stop.signal });
	await seen.next();
	await f.write('/root/tree/new', 'x');
	assert.equal((await seen.next()).done, false);
	stop.abort();
});

test('images', async () => {
	const empty = Buffer.alloc(1024);
	const made = await viv.images.import(empty, { tag: 'ts/empty' });
	assert.equal(made.tag, 'ts/empty');
	assert.equal((await viv.images.get('ts/empty')).id, made.id);
	assert.equal((await viv.images.tag(made.id, 'ts/other')).id, made.id);
	let size = 0;
	for await (const part of viv.images.export('ts/other'))
		size += part.length;
	assert.ok(size > 0);
	const oci = [];
	for await (const part of viv.images.export('ts/other', { format: 'oci-archive' }))
		oci.push(part);
	assert.equal(Buffer.concat(oci).subarray(0, 10).toString(), 'oci-layout');
	assert.equal((await viv.images.verify('ts/other')).damaged, 0);
	await assert.rejects(viv.images.import(Buffer.from('no archive')), refused('not_imported', 422));
	const c = await viv.cells.create({ name: `of-image-${randomUUID()}`, image: 'ts/other' });
	assert.equal((await c.commit('ts/again')).tag, 'ts/again');
	await c.remove();
	for (const tag of ['ts/again', 'ts/other', 'ts/empty'])
		if ((await viv.images.list()).some((i) => i.tags.includes(tag)))
			await viv.images.remove(tag);
	assert.ok((await viv.prune({ dryRun: true })).removed === false);
	assert.equal((await viv.images.gc({ untagged: true })).abandoned, 0);
});

test('schedules', async () => {
	const name = `cron-${process.pid}`;
	const cell = await viv.cells.create({ name });
	const s = await viv.schedules.add({ name, schedule: '0 3 29 2 *', tz: 'Europe/Oslo', cell: cell.id, command: ['sh', '-c', 'echo out; exit 4'] });
	assert.equal(s.state, 'active');
	assert.match(s.next ?? '', /-02-29T03:00:00\+01:00$/);
	const run = await viv.schedules.run(name);
	for await (const e of viv.events({ since: 0 }))
		if (e.type === 'cron.failed' && e.cell === cell.id && e.data.run === run.run)
			break;
	const log = await viv.schedules.log(name);
	assert.equal(log.output, 'out\n');
	assert.equal(log.exit_code, 4);
	assert.deepEqual((await viv.schedules.runs(name)).map((x) => x.run), [run.run]);
	assert.equal((await viv.schedules.pause(name)).state, 'paused');
	assert.equal((await viv.schedules.resume(name)).state, 'active');
	assert.deepEqual((await viv.schedules.list({ cell: cell.id })).map((x) => x.name), [name]);
	await assert.rejects(viv.schedules.add({ name: 'x', schedule: '0 0 30 2 *', cell: cell.id, command: ['true'] }), refused('invalid', 400));
	await viv.schedules.remove(name, { force: true });
	await assert.rejects(viv.schedules.get(name), refused('not_found', 404));
	await cell.remove({ force: true });
});

test('previews and requests to servers in a cell', async () => {
	const server = await cell.spawn(['python3', '-c', `
import http.server
class H(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        d = self.rfile.read(int(self.headers['Content-Length']))
        self.send_response(201); self.send_header('X-Got', self.headers['X-Sent']); self.end_headers(); self.wfile.write(d + bytes([255]))
    def do_GET(self):
        self.send_response(200); self.end_headers(); self.wfile.write(self.path.encode())
http.server.HTTPServer(('127.0.0.1', 8123), H).serve_forever()`]);
	await soon(() => cell.fetch(8123).then(() => true, () => false), 'a server');
	const r = await cell.fetch(8123, '/x', { method: 'POST', headers: { 'X-Sent': 'y' }, body: new Uint8Array([0, 254]) });
	assert.equal(r.status, 201);
	assert.equal(r.headers.get('x-got'), 'y');
	assert.deepEqual(new Uint8Array(await r.arrayBuffer()), new Uint8Array([0, 254, 255]));
	assert.equal(await (await cell.fetch(8123, '/a?b')).text(), '/a?b');
	await assert.rejects(cell.fetch(8124), refused('not_found', 404));
	const p = await cell.preview(8123, { expiresIn: 60 });
	assert.equal(await (await fetch(`${p.path_url}c`)).text(), '/c');
	assert.deepEqual((await viv.previews.list({ cell: cell.id })).map((x) => x.id), [p.id]);
	assert.equal((await viv.previews.get(p.id)).url, p.url);
	await viv.previews.remove(p.id);
	assert.equal((await fetch(`${p.path_url}c`)).status, 403);
	server.kill('SIGKILL');
	await server.exit;
});

test('workflows of files and of programs', async () => {
	const run = await viv.workflows.start('steps: [{name: a, run: "echo [1,2]"}]', { inputs: {} });
	assert.deepEqual((await viv.workflows.wait(run.id)).output, [1, 2]);
	assert.equal((await viv.workflows.get(run.id)).steps?.[0]?.exit_code, 0);
	assert.ok((await viv.workflows.list({ state: 'done', limit: 5 })).some((r) => r.id === run.id));
	await viv.workflows.remove(run.id);
	await assert.rejects(viv.workflows.get(run.id), refused('not_found', 404));

	const ran = { one: 0, two: 0 };
	/** @type {string[]} */
	const keys = [];
	let id = '';
	/** @param {import('../src/index.js').WorkflowContext} ctx */
	const program = async (ctx) => {
		id = ctx.id;
		const one = await ctx.step('one', () => (ran.one++, { n: 1 }));
		return ctx.step('two', ({ key }) => {
			keys.push(key);
			if (ran.two++ === 0)
				throw new Error('killed');
			return one.n + ctx.inputs.more;
		}, { retries: ran.two === 0 ? 1 : 0 });
	};
	// The second step fails, and is run again; the first is not.
	assert.equal(await viv.workflow('program', program, { inputs: { more: 2 } }), 3);
	assert.deepEqual(ran, { one: 1, two: 2 });
	assert.equal(keys[0], keys[1]);
	assert.equal(await viv.workflow('program', program, { id }), 3, 'its result, without a step');
	assert.deepEqual(ran, { one: 1, two: 2 });
	assert.equal((await viv.workflows.get(id)).state, 'done');

	// A program that ends in the middle: another one goes on.
	const other = { one: 0 };
	let begun = '';
	await assert.rejects(viv.workflow('stopped', async (ctx) => {
		begun = ctx.id;
		await ctx.step('one', () => { other.one++; });
		throw new Error('ended');
	}), /ended/);
	assert.equal(await viv.workflow('stopped', async (ctx) => {
		await ctx.step('one', () => { other.one++; });
		return ctx.step('two', () => 'end', { lease: 5 });
	}, { id: begun }), 'end');
	assert.equal(other.one, 1);
	// A step that is another's is waited for; one that failed for good says so.
	const both = await viv.workflow('both', async (ctx) => {
		const seen = await Promise.all([1, 2].map((n) => ctx.step('same', async () => (await sleep(20), n))));
		await assert.rejects(ctx.step('bad', () => { throw new Error('never'); }), /never/);
		await assert.rejects(ctx.step('bad', () => 1), /never/);
		return seen;
	});
	assert.equal(both[0], both[1]);
	await assert.rejects(viv.workflow('final', async () => { throw new Error('over'); }, { final: true, id: '00000000000000aa' }), /over/);
	assert.equal((await viv.workflows.get('00000000000000aa')).state, 'failed');
});
