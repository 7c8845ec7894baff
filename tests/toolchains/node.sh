# Node: the event loop, threads, children, sockets and watches. shellcheck shell=bash

tool_same 'the order of the event loop @r' node node <<'END'
process.nextTick(() => console.log('tick'));
Promise.resolve().then(() => console.log('promise'));
console.log('first', process.version, require('os').cpus().length);
process.on('exit', c => console.log('exit', c));
process.on('SIGUSR2', () => { console.log('signal'); clearInterval(alive); });
const alive = setInterval(() => {}, 1000);
require('fs').readFile(__filename, () => {
	setTimeout(() => console.log('timeout after input'), 0);
	setImmediate(() => console.log('immediate after input'));
	setTimeout(() => console.log('later'), 60);
	setTimeout(() => console.log('timeout'), 20);
	setTimeout(() => process.kill(process.pid, 'SIGUSR2'), 100);
});
END

tool_same 'worker threads share memory @r' node node <<'END'
const { Worker, isMainThread, workerData } = require('worker_threads');
if (isMainThread) {
	const shared = new SharedArrayBuffer(8), a = new Int32Array(shared);
	let ended = 0;
	for (let i = 0; i < 6; i++)
		new Worker(__filename, { workerData: shared }).on('exit', code => {
			if (++ended == 6) console.log('sum', Atomics.load(a, 0), code, Atomics.load(a, 1));
		});
	setTimeout(() => { Atomics.store(a, 1, 1); Atomics.notify(a, 1); }, 300);
} else {
	const a = new Int32Array(workerData);
	for (let i = 0; i < 10000; i++) Atomics.add(a, 0, 1);
	Atomics.wait(a, 1, 0, 10000);
}
END

tool_same 'child_process: exec, spawn, fork, kill @r' node node <<'END'
const c = require('child_process');
if (process.argv[2] == 'child') {
	process.on('message', m => { process.send({ twice: m.n * 2 }); process.disconnect(); });
} else {
	console.log(c.execSync('echo $((6 * 7)); exit 0').toString().trim());
	const s = c.spawnSync('sh', ['-c', 'cat; echo err >&2; exit 3'], { input: 'x'.repeat(300000) });
	console.log(s.status, s.stdout.length, s.stderr.toString());
	console.log(c.spawnSync('/nowhere').error.code);
	const k = c.spawn('sleep', ['100']);
	k.on('exit', (code, sig) => {
		console.log(code, sig);
		const f = c.fork(__filename, ['child']);
		f.on('message', m => console.log(m));
		f.on('exit', code => console.log('fork', code));
		f.send({ n: 21 });
	});
	k.kill();
}
END

tool_same 'an http server and its clients on loopback @r' node node <<'END'
const http = require('http');
const s = http.createServer((q, r) => {
	let n = 0;
	q.on('data', d => n += d.length);
	q.on('end', () => { r.setHeader('x-n', n); r.end('y'.repeat(n) + q.url); });
}).listen(0, '127.0.0.1', async () => {
	const url = `http://127.0.0.1:${s.address().port}/`;
	const all = await Promise.all(Array.from({ length: 60 }, (_, i) =>
		fetch(url + i, { method: 'POST', body: 'z'.repeat(i * 1000) }).then(r => r.text())));
	console.log(all.length, all.reduce((a, t) => a + t.length, 0), all[7].slice(-2));
	http.get(url + 'agent', { agent: new http.Agent({ keepAlive: false }) }, r => {
		r.resume();
		r.on('end', () => { console.log(r.statusCode); s.close(() => console.log('closed')); s.closeAllConnections(); });
	});
});
END

tool_same 'cluster: one port, three processes' node node <<'END'
const cluster = require('cluster'), http = require('http');
if (cluster.isPrimary) {
	let up = 0, gone = 0;
	for (let i = 0; i < 3; i++) {
		const w = cluster.fork();
		w.on('exit', (code, sig) => { if (++gone == 3) console.log('gone', code, sig); });
		w.on('listening', a => {
			if (++up < 3) return;
			let n = 0;
			for (let j = 0; j < 30; j++)
				http.get({ host: '127.0.0.1', port: a.port, agent: false }, r => r.resume().on('end', () => {
					if (++n == 30) { console.log('served', n); for (const id in cluster.workers) cluster.workers[id].kill(); }
				}));
		});
	}
} else http.createServer((q, r) => r.end('hello')).listen({ port: 0, host: '127.0.0.1' });
END

tool_same 'fs: streams, trees, promises @r' node node <<'END'
const fs = require('fs'), { pipeline } = require('stream/promises'), zlib = require('zlib');
(async () => {
	fs.mkdirSync('a/b/c', { recursive: true });
	await Promise.all(Array.from({ length: 200 }, (_, i) => fs.promises.writeFile(`a/b/${i}`, 'x'.repeat(i))));
	console.log((await fs.promises.readdir('a', { recursive: true })).length);
	fs.writeFileSync('big', Buffer.alloc(3e6, 'abc'));
	await pipeline(fs.createReadStream('big'), zlib.createGzip(), fs.createWriteStream('big.gz'));
	console.log(zlib.gunzipSync(fs.readFileSync('big.gz')).equals(fs.readFileSync('big')));
	fs.cpSync('a', 'copy', { recursive: true }); fs.symlinkSync('big', 'link'); fs.renameSync('big.gz', 'a/z');
	console.log(fs.readlinkSync('link'), fs.statSync('link').size, fs.readdirSync('copy/b').length);
	fs.rmSync('a', { recursive: true }); console.log(fs.existsSync('a'));
	try { fs.openSync('none/x') } catch (e) { console.log(e.code, e.syscall) }
})();
END

tool_same 'fs.watch and fs.watchFile' node node <<'END'
const fs = require('fs');
fs.mkdirSync('d/e', { recursive: true }); fs.writeFileSync('f', '1');
const seen = new Set();
const recursive = parseInt(process.versions.node) >= 20; // older ones cannot on Linux
const w = fs.watch('d', { recursive }, (e, f) => seen.add(`${e} ${f}`));
fs.watchFile('f', { interval: 30 }, (now, before) => { console.log(before.size, now.size); fs.unwatchFile('f'); });
setTimeout(() => { fs.writeFileSync('d/new', 'x'); fs.writeFileSync('d/e/deep', 'x'); fs.writeFileSync('f', '12'); }, 150);
setTimeout(() => { fs.renameSync('d/new', 'd/newer'); fs.unlinkSync('d/newer'); }, 400);
setTimeout(() => { w.close(); console.log([...seen].sort().join('\n')); }, 800);
END
