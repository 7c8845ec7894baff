// The official client of the Model Context Protocol against viv mcp: node mcp.mjs VIV DIR stdio|http
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import assert from 'node:assert';

const [viv, dir, how] = process.argv.slice(2);
const sdk = (path) => import(pathToFileURL(createRequire(dir + '/x.js').resolve('@modelcontextprotocol/sdk/' + path)));
const { Client } = await sdk('client/index.js');
let transport, server;
if (how === 'stdio') {
	const { StdioClientTransport } = await sdk('client/stdio.js');
	transport = new StdioClientTransport({ command: viv, args: ['mcp'], env: process.env });
} else {
	const { StreamableHTTPClientTransport } = await sdk('client/streamableHttp.js');
	server = spawn(viv, ['mcp', '--http', '127.0.0.1:0', '--json'], { stdio: ['ignore', 'pipe', 'inherit'] });
	const line = await new Promise((done) => createInterface(server.stdout).once('line', done));
	const { url, token } = JSON.parse(line);
	transport = new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers: { Authorization: `Bearer ${token}` } } });
}
const client = new Client({ name: 'test', version: '1' });
await client.connect(transport);
assert.equal(client.getServerVersion().name, 'vivarium');
const { tools } = await client.listTools();
assert(tools.some((t) => t.name === 'exec'));
const call = (name, args, options) => client.callTool({ name, arguments: args }, undefined, { timeout: 300000, ...options });
await call('cell_create', { name: 'sdk' });
let told = 0;
let r = await call('exec', { cell: 'sdk', script: 'for i in 1 2 3; do echo $i; sleep 0.3; done; exit 3' }, { onprogress: () => told++ });
assert.deepEqual([r.structuredContent.stdout, r.structuredContent.exit_code, r.isError], ['1\n2\n3\n', 3, false]);
assert(told >= 1);
await call('file_write', { cell: 'sdk', path: '/root/f', text: 'hello' });
const read = await client.readResource({ uri: 'cell://sdk/root/f' });
assert.equal(read.contents[0].text, 'hello');
assert.equal((await client.listResourceTemplates()).resourceTemplates.length, 2);
assert((await client.listResources()).resources.length >= 2);
r = await call('exec', { cell: 'nobody', script: 'true' });
assert(r.isError && r.content[0].text.includes('not_found'));
await assert.rejects(call('no_such_tool', {}));
// Cancelled: the command is killed.
const stop = new AbortController();
const running = async () => (await call('exec', { cell: 'sdk', script: "cat /proc/[0-9]*/cmdline | tr '\\0' ' '" })).structuredContent.stdout.includes('sleep 1234');
const soon = async (what) => {
	for (let i = 0; i < 600; i++) {
		if (await what()) return;
		await new Promise((done) => setTimeout(done, 50));
	}
	assert.fail('not soon');
};
const cancelled = call('exec', { cell: 'sdk', script: "trap '' HUP; sleep 1234 & wait" }, { signal: stop.signal });
cancelled.catch(() => {});
await soon(running);
stop.abort('enough');
await assert.rejects(cancelled);
await soon(async () => !(await running()));
await call('cell_remove', { cell: 'sdk', force: true });
if (how === 'http') await transport.terminateSession();
await client.close();
if (server) server.kill();
console.log('good');
