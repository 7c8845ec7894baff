// An agent in a cell, from JavaScript: sends one prompt, allows what the agent asks for, and prints what it says.
//
//     viv create --name work; node session.mjs work '{"agent":"claude"}' 'fix the failing test'
import { Vivarium } from 'vivarium';

const [cell, spec, prompt] = process.argv.slice(2);
const viv = new Vivarium();
const session = await viv.sessions.create(cell, JSON.parse(spec));

for await (const e of session.prompt(prompt)) {
	const update = e.data.update;
	if (e.type === 'update' && update.sessionUpdate === 'agent_message_chunk')
		process.stdout.write(update.content.text ?? '');
	if (e.type === 'permission')
		await viv.approvals.answer(e.data.approval, { answer: 'allow' });
	if (e.type === 'turn')
		console.log(`\n(${e.data.stop_reason})`);
}

await session.close();
viv.close();
