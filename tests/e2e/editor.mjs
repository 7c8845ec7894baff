// An editor for 'viv acp': the client of the official ACP SDK, which is in the directory $ACP_SDK. The command to talk to is in the words;
// what the agent of acpagent.py is asked for, and what has to come of it, is below.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import path from 'node:path';
import { Readable, Writable } from 'node:stream';
import { pathToFileURL } from 'node:url';

const sdk = createRequire(path.join(process.env.ACP_SDK, 'x.js')).resolve('@agentclientprotocol/sdk');
const { client, methods, ndJsonStream } = await import(pathToFileURL(sdk));

const updates = [];
const asked = [];
let answer = 'yes';
let loaded;

function text(kind = 'agent_message_chunk') {
	return updates.filter((u) => u.sessionUpdate === kind).map((u) => u.content.text).join('|');
}

async function session(words, run) {
	const child = spawn(words[0], words.slice(1), { stdio: ['pipe', 'pipe', 'inherit'] });
	const app = client({ name: 'test-editor' })
		.onNotification(methods.client.session.update, ({ params }) => {
			updates.push(params.update);
		})
		.onRequest(methods.client.session.requestPermission, async ({ params }) => {
			asked.push(params);
			return answer === 'cancelled' ? { outcome: { outcome: 'cancelled' } } : { outcome: { outcome: 'selected', optionId: answer } };
		});
	await app.connectWith(ndJsonStream(Writable.toWeb(child.stdin), Readable.toWeb(child.stdout)), run);
	child.stdin.end();
	const code = await new Promise((done) => (child.exitCode === null ? child.on('exit', done) : done(child.exitCode)));
	assert.equal(code, 0, 'viv acp ends with the editor');
}

const words = process.argv.slice(2);
const agent = methods.agent;
await session(words, async (ctx) => {
	const prompt = (sessionId, ...blocks) => {
		updates.length = asked.length = 0;
		return ctx.request(agent.session.prompt, { sessionId, prompt: blocks.map((b) => (typeof b === 'string' ? { type: 'text', text: b } : b)) });
	};
	const hello = await ctx.request(agent.initialize, { protocolVersion: 1, clientCapabilities: { fs: { readTextFile: true, writeTextFile: true }, terminal: true } });
	assert.equal(hello.protocolVersion, 1);
	assert.equal(hello.agentCapabilities.loadSession, true);

	const made = await ctx.request(agent.session.new, { cwd: process.cwd(), mcpServers: [{ name: 'x', command: '/bin/false', args: [], env: [] }] });
	assert.match(made.sessionId, /^s_[0-9a-f]{16}$/);
	assert.deepEqual(made.modes, { currentModeId: 'ask', availableModes: [{ id: 'ask', name: 'Ask' }, { id: 'code', name: 'Code' }] });
	assert.equal(made.configOptions[0].id, 'effort');
	const { sessionId } = made;

	assert.deepEqual(await prompt(sessionId, 'say one; think two; tool Edit; say three'), { stopReason: 'end_turn' });
	assert.equal(text(), 'one|three');
	assert.equal(text('agent_thought_chunk'), 'two');
	assert.deepEqual(updates.filter((u) => u.toolCallId).map((u) => u.status), ['pending', 'completed']);

	// What nobody knows yet does not end anything.
	assert.equal((await prompt(sessionId, 'odd; notify; noise; say after')).stopReason, 'end_turn');
	assert.equal(text(), 'after');

	// Files and terminals are the cell's, although the editor would serve them.
	await prompt(sessionId, 'write /tmp/in-the-cell hello; run cat /tmp/in-the-cell');
	assert.match(text(), /"output": "hello\\n"/);

	for (const [option, wanted] of [['yes', 'yes'], ['ever', 'ever'], ['no', 'no']]) {
		answer = option;
		assert.equal((await prompt(sessionId, 'ask may I?')).stopReason, 'end_turn');
		assert.equal(asked.length, 1);
		assert.equal(asked[0].toolCall.title, 'may I?');
		assert.deepEqual(asked[0].options.map((o) => o.kind), ['allow_once', 'allow_always', 'reject_once']);
		assert.match(text(), new RegExp(`"optionId": "${wanted}"`));
	}
	answer = 'cancelled';
	await prompt(sessionId, 'ask and now?');
	assert.match(text(), /"optionId": "no"/);

	const running = prompt(sessionId, 'say begun; until_cancel; say never');
	while (!text())
		await new Promise((done) => setTimeout(done, 20));
	await ctx.notify(agent.session.cancel, { sessionId });
	assert.equal((await running).stopReason, 'cancelled');
	assert.equal(text(), 'begun');

	await assert.rejects(prompt(sessionId, 'error broken'), /error/);
	await assert.rejects(prompt('s_0000000000000000', 'say x'), /no such session/);
	await ctx.request(agent.session.setMode, { sessionId, modeId: 'code' });
	const set = await ctx.request(agent.session.setConfigOption, { sessionId, configId: 'effort', value: 'high' });
	assert.equal(set.configOptions[0].currentValue, 'high');
	loaded = sessionId;
});

// The editor is started again, and wants its session back.
await session(words, async (ctx) => {
	updates.length = 0;
	await ctx.request(agent.initialize, { protocolVersion: 1, clientCapabilities: {} });
	const { sessions } = await ctx.request(agent.session.list, {});
	assert.ok(sessions.some((s) => s.sessionId === loaded), 'it is listed');
	const state = await ctx.request(agent.session.load, { sessionId: loaded, cwd: process.cwd(), mcpServers: [] });
	assert.equal(state.modes.currentModeId, 'code');
	assert.match(text('user_message_chunk'), /^say one; think two/);
	assert.match(text(), /^one\|three\|/);
	assert.equal(asked.length, 0);
	updates.length = 0;
	assert.equal((await ctx.request(agent.session.prompt, { sessionId: loaded, prompt: [{ type: 'text', text: 'say again' }] })).stopReason, 'end_turn');
	assert.equal(text(), 'again');
	await ctx.request(agent.session.close, { sessionId: loaded });
});
console.log('ok');
