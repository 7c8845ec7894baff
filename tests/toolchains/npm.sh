# npm, TypeScript and esbuild. The packages are fetched on the host. shellcheck shell=bash

# Forty packages that need one another, as tarballs: no registry at all.
npm_ci_tarballs() {
	local i deps
	mkdir -p src t/project/tarballs
	for ((i = 1; i <= 40; i++)); do
		mkdir "src/p$i"
		deps=
		((i > 1)) && deps="\"vivtest-p$((i - 1))\": \"1.0.0\""
		echo "{ \"name\": \"vivtest-p$i\", \"version\": \"1.0.0\", \"main\": \"i.js\", \"bin\": { \"p$i\": \"bin.js\" }, \"peerDependencies\": { $deps } }" >"src/p$i/package.json"
		echo "module.exports = $i$( ((i > 1)) && echo " + require('vivtest-p$((i - 1))')");" >"src/p$i/i.js"
		printf '#!/usr/bin/env node\nconsole.log("bin", require("./i.js"));\n' >"src/p$i/bin.js"
	done
	for ((i = 1; i <= 40; i++)); do
		tar -C "src/p$i" --transform 's|^\.|package|' --mode=755 -czf "t/project/tarballs/p$i.tgz" .
	done
	{
		echo '{ "name": "project", "version": "1.0.0", "private": true, "dependencies": {'
		for ((i = 1; i <= 40; i++)); do echo "\"vivtest-p$i\": \"file:tarballs/p$i.tgz\"$( ((i < 40)) && echo ,)"; done
		echo '}, "scripts": { "start": "p40" } }'
	} >t/project/package.json
	(cd t/project && HOME=$PWD TMPDIR=$PWD npm install --offline --package-lock-only --no-audit --no-fund --cache "$dir/cache" >../../lock.log 2>&1) ||
		{ cat lock.log; return 1; }
	exits 0 viv --mount "$PWD/t:/t:ro" --env HOME=/root -- sh -ec 'cp -r /t/project /tmp/p; cd /tmp/p
		npm ci --offline --no-audit --no-fund >/tmp/log 2>&1 || { cat /tmp/log; exit 1; }
		ls node_modules | wc -l; node -p "require(\"vivtest-p40\")"; npm start --silent'
	is "$(cat out)" $'40\n820\nbin 820'
}
check 'npm ci of 40 local tarballs' npm_ci_tarballs

# The registry's own packages, from a cache that was filled on the host. Two runs on the host: the second proves that
# the cache is enough, whatever a registry's configuration is.
npm_ci_cache() {
	local c=$TOOLCHAINS_CACHE/project
	if [[ ! -e $c/.done ]]; then
		rm -rf "$c" && mkdir -p "$c/p"
		echo '{ "name": "p", "version": "1.0.0", "private": true, "dependencies": { "express": "4.19.2", "lodash": "4.17.21", "typescript": "5.4.5", "esbuild": "0.21.5", "mocha": "10.4.0" } }' >"$c/p/package.json"
		(
			cd "$c/p"
			npm install --package-lock-only --no-audit --no-fund --cache "$c/c"
			npm ci --ignore-scripts --no-audit --no-fund --cache "$c/c"
			rm -rf node_modules
			npm ci --ignore-scripts --offline --no-audit --no-fund --cache "$c/c"
			rm -rf node_modules
		) >log 2>&1 || { cat log; return 1; }
		chmod -R a+rX "$c"
		touch "$c/.done"
	fi
	exits 0 viv --mount "$c:/c:ro" --env HOME=/root -- sh -ec 'cp -r /c/p /c/c /tmp; cd /tmp/p
		npm ci --ignore-scripts --offline --no-audit --no-fund --cache /tmp/c >/tmp/log 2>&1 || { cat /tmp/log; exit 1; }
		node -p "require(\"lodash\").chunk([1, 2, 3], 2).length + typeof require(\"express\")"
		node_modules/.bin/esbuild --version
		echo "it(\"works\", () => {})" >t.js; node_modules/.bin/mocha t.js | grep -c passing'
	is "$(cat out)" $'2function\n0.21.5\n1'
}
fetch_needed=('npm ci of a project from a cache' 'TypeScript compiles, and refuses what is wrong' 'esbuild bundles')
if ! wanted "${fetch_needed[@]}"; then
	:
elif ! fetched "$TOOLCHAINS_CACHE/ts" typescript@5.4.5 esbuild@0.21.5; then
	for name in "${fetch_needed[@]}"; do
		skip "$name" "$why"
	done
else
	check 'npm ci of a project from a cache' npm_ci_cache

	inside 'TypeScript compiles, and refuses what is wrong' node $'a5\n2\nTS2322' --mount "$TOOLCHAINS_CACHE/ts:/ts:ro" <<'END'
echo 'const x: number = 5; export const y = (z: string): string => z + x; console.log(y("a"))' >a.ts
echo 'const q: number = "s"' >b.ts
/ts/node_modules/.bin/tsc --strict --target es2020 --module commonjs a.ts
node a.js
s=0; /ts/node_modules/.bin/tsc --noEmit b.ts >log || s=$?
echo $s; grep -o TS2322 log
END

	inside 'esbuild bundles' node $'7\nagain 8' --mount "$TOOLCHAINS_CACHE/ts:/ts:ro" <<'END'
echo 'export const f = (n: number) => n + 1' >lib.ts
echo 'import { f } from "./lib"; console.log(f(6))' >main.ts
/ts/node_modules/.bin/esbuild main.ts --bundle --minify --sourcemap --outfile=o.js --log-level=error
node o.js
cat >api.js <<X
require('/ts/node_modules/esbuild').build({ stdin: { contents: 'console.log("again", 8)' }, bundle: true, write: false })
	.then(r => eval(r.outputFiles[0].text));
X
node api.js
END
fi
