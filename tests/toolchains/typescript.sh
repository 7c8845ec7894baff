# The types of clients/ts: tsc finds nothing to say about sources, tests and a program that uses them, and the declarations are those of the sources.
# shellcheck shell=bash

clients=$E2E_DIR/../clients/ts
types_hold() {
	local tsc=$TOOLCHAINS_CACHE/typescript/node_modules/typescript/bin/tsc
	cp -r "$clients" vivarium
	ln -s "$TOOLCHAINS_CACHE/typescript/node_modules" vivarium/node_modules
	(cd vivarium && exits 0 node "$tsc")
	mv vivarium/types was
	(cd vivarium && exits 0 node "$tsc" -p tsconfig.types.json)
	diff -r was vivarium/types
	mkdir -p use/node_modules
	ln -s "$PWD/vivarium" use/node_modules/vivarium
	ln -s "$TOOLCHAINS_CACHE/typescript/node_modules/@types" use/node_modules/@types
	echo '{ "type": "module" }' >use/package.json
	cat >use/good.ts <<-'EOF'
	import { Vivarium, VivariumError, type CellInfo } from 'vivarium';
	const cell = await new Vivarium({ url: 'http://x', token: 't' }).cells.create({ name: 'x', start: true });
	const info: CellInfo = cell.info;
	const code: number = (await cell.exec(['a'], { stdin: 'x' })).exitCode;
	const p = await cell.spawn('x', { tty: true, signal: AbortSignal.timeout(1) });
	p.stdout.pipe(process.stdout);
	p.kill('SIGTERM');
	for await (const e of new Vivarium().events({ since: 0 })) if ('seq' in e) console.log(e.seq, code, info.state === 'running', VivariumError);
	EOF
	cat >use/bad.ts <<-'EOF'
	import { Vivarium } from 'vivarium';
	const cell = await new Vivarium().cells.create({ nmae: 'x' });
	cell.exec(5);
	(await cell.spawn('x')).kill('SIGNOT');
	EOF
	(cd use && exits 0 node "$tsc" --noEmit --strict --module nodenext --target es2022 --types node good.ts)
	(cd use && ! node "$tsc" --noEmit --strict --module nodenext --target es2022 --types node bad.ts >../bad)
	is "$(sed -n 's/^bad.ts(\([0-9]*\),.*/\1/p' bad | tr '\n' ' ')" '2 3 4 ' 'lines with errors'
}
name='the types of the client'
if wanted "$name"; then
	if fetched "$TOOLCHAINS_CACHE/typescript" typescript@5.4.5 @types/node@18.19.0; then
		check "$name" types_hold
	else
		skip "$name" "$why"
	fi
fi
