# Real clients of all kinds, from a cell to servers of the world. shellcheck shell=bash
# world
# shellcheck source=tests/e2e/world.sh
. "$E2E_DIR/world.sh"
world_name_server
world_web
world_plain
CA=(--mount "$E2E_WORLD/ca.pem:/ca.pem:ro" -e SSL_CERT_FILE=/ca.pem -e GIT_SSL_CAINFO=/ca.pem -e NODE_EXTRA_CA_CERTS=/ca.pem
	-e REQUESTS_CA_BUNDLE=/ca.pem -e HOME=/tmp)

# ---- what the servers serve ----
(
	mkdir -p "$scratch/www/repo" && cd "$scratch/www/repo" || exit
	export GIT_AUTHOR_NAME=w GIT_AUTHOR_EMAIL=w@w GIT_COMMITTER_NAME=w GIT_COMMITTER_EMAIL=w@w GIT_CONFIG_GLOBAL=/dev/null
	git init -q && echo content >file && git add file && git commit -qm first && git update-server-info
	git clone -q --bare . "$scratch/repo.git"
) >"$scratch/world.git" 2>&1

wget_and_curl() {
	is "$(viv "${CA[@]}" --allow good.org -- wget -qO- --ca-certificate=/ca.pem https://good.org/)" hello
	is "$(viv "${CA[@]}" --allow good.org -- curl -sS --cacert /ca.pem -4 --http1.1 https://good.org/who)" 'good.org 93.184.216.34 443 HTTP/1.1'
	is "$(viv "${CA[@]}" --allow good.org -- curl -sS --cacert /ca.pem -6 https://good.org/who)" 'good.org 2606:2800:220:1::34 443 HTTP/2.0'
	is "$(viv "${CA[@]}" --allow good.org -- curl -sS --cacert /ca.pem -4 https://good.org/who)" 'good.org 93.184.216.34 443 HTTP/2.0'
}
check 'wget and curl @r' wget_and_curl

git_https() {
	is "$(viv "${CA[@]}" --allow good.org -- sh -c 'git clone -q https://good.org/repo/.git /tmp/r && cat /tmp/r/file')" content
	exits 128 viv "${CA[@]}" --allow good.org -- git clone -q https://other.org/repo/.git /tmp/r
	like "$(cat err)" '*other.org*'
}
check 'git over https @r' git_https

# sshd for our own user, with a key of its own.
ssh_start() {
	ssh-keygen -q -t ed25519 -N '' -f "$PWD/host" && ssh-keygen -q -t ed25519 -N '' -f "$PWD/key"
	cp key.pub allowed && chmod 600 allowed key host
	[[ $(id -u) != 0 ]] || mkdir -p /run/sshd
	/usr/sbin/sshd -D -e -f /dev/null -p 22 -h "$PWD/host" -o ListenAddress=93.184.216.36 -o PidFile=none -o UsePAM=no -o StrictModes=no \
		-o "AuthorizedKeysFile=$PWD/allowed" >sshd.log 2>&1 &
	at_end "kill $!"
	soon eval '(exec 3<>/dev/tcp/93.184.216.36/22) 2>/dev/null'
	printf '#!/bin/sh\nexec ssh -i /key -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o LogLevel=ERROR "$@"\n' >ssh
	chmod 755 ssh
	KEY=(--mount "$PWD/key:/key0:ro" --mount "$PWD/ssh:/usr/local/bin/s:ro" --allow 'tcp.org:22 tcp' -e "WHO=$(id -un)" -e HOME=/tmp)
}
git_ssh() {
	ssh_start
	is "$(viv "${KEY[@]}" -- sh -c 'install -m 600 /key0 /key && s "$WHO@tcp.org" echo over ssh')" 'over ssh'
	is "$(viv "${KEY[@]}" -e GIT_SSH=/usr/local/bin/s -- sh -c "install -m 600 /key0 /key && git clone -q \"\$WHO@tcp.org:$scratch/repo.git\" /tmp/r && cat /tmp/r/file")" content
	is "$(viv "${KEY[@]}" -- sh -c 'install -m 600 /key0 /key && head -c 20000000 /dev/zero | s "$WHO@tcp.org" md5sum')" \
		"$(head -c 20000000 /dev/zero | md5sum)"
}
check 'ssh, and git over ssh' git_ssh

redis() {
	redis-server --bind 93.184.216.36 --port 6379 --protected-mode no --save '' --appendonly no >redis.log 2>&1 &
	at_end "kill $!"
	soon eval '(exec 3<>/dev/tcp/93.184.216.36/6379) 2>/dev/null'
	is "$(viv --allow 'tcp.org:6379 tcp' -- sh -c 'redis-cli -h tcp.org set a 1; redis-cli -h tcp.org incr a')" $'OK\n2'
	is "$(viv --allow 'tcp.org:6379 tcp' -- redis-benchmark -h tcp.org -q -n 2000 -c 50 -t set,get | tr '\r' '\n' | grep -c 'requests per second, p50')" 2
}
check 'redis-cli and redis-benchmark @r' redis

postgres() {
	local bin as=()
	bin=$(echo /usr/lib/postgresql/*/bin)
	chmod 755 "$PWD"
	# It refuses to run as root.
	if [[ $(id -u) == 0 ]]; then
		mkdir db && chown vivtest: db
		as=(setpriv --reuid vivtest --regid vivtest --init-groups)
	else
		mkdir db
	fi
	"${as[@]}" "$bin/initdb" -D db -U w -A trust >initdb.log
	echo 'host all all 0.0.0.0/0 trust' | "${as[@]}" tee -a db/pg_hba.conf >/dev/null
	"${as[@]}" "$bin/postgres" -D db -h 93.184.216.36 -k '' -c fsync=off >pg.log 2>&1 &
	at_end "kill $!; wait $! 2>/dev/null"
	soon eval '(exec 3<>/dev/tcp/93.184.216.36/5432) 2>/dev/null'
	soon eval 'psql -h 93.184.216.36 -U w -d postgres -c "select 1" >/dev/null 2>&1'
	is "$(viv --allow 'tcp.org:5432 tcp' -- psql -h tcp.org -U w -d postgres -Atc 'select sum(i) from generate_series(1, 100000) i')" 5000050000
}
check 'psql @r' postgres

python_clients() {
	mkdir ws
	cat >ws/server.py <<'P'
import asyncio, ssl, sys, websockets
async def echo(ws):
    async for m in ws: await ws.send(m)
async def main():
    ctx = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    ctx.load_cert_chain(sys.argv[1] + "/server.pem", sys.argv[1] + "/server.key")
    async with websockets.serve(echo, "93.184.216.36", 8443, ssl=ctx): await asyncio.Event().wait()
asyncio.run(main())
P
	/usr/bin/python3 ws/server.py "$E2E_WORLD" >ws.log 2>&1 &
	at_end "kill $!"
	soon eval '(exec 3<>/dev/tcp/93.184.216.36/8443) 2>/dev/null'
	is "$(viv "${CA[@]}" --allow good.org --allow tcp.org:8443 -- /usr/bin/python3 -c '
import asyncio, ssl, urllib.request, requests, aiohttp, websockets
print(urllib.request.urlopen("https://good.org/").read())
print(requests.get("https://good.org/").text)
async def main():
    async with aiohttp.ClientSession() as s:
        async with s.get("https://good.org/") as r: print(r.status, await r.text())
        got = await asyncio.gather(*(one(s) for _ in range(50)))
        print(len(got), set(got))
    async with websockets.connect("wss://tcp.org:8443/") as ws:
        await ws.send("x" * 100000)
        print(len(await ws.recv()))
async def one(s):
    async with s.get("https://good.org/who") as r: return (await r.text()).split()[0]
asyncio.run(main())')" $'b\'hello\\n\'\nhello\n\n200 hello\n\n50 {\'good.org\'}\n100000'
}
check 'Python: urllib, requests, aiohttp, websockets @r' python_clients

node_clients() {
	cat >c.mjs <<'P'
import http2 from "node:http2";
import https from "node:https";
import dns from "node:dns/promises";
console.log((await (await fetch("https://good.org/")).text()).trim());
console.log(await dns.resolve4("good.org"), (await dns.lookup("six.org")).address);
await new Promise((done) => https.get("https://good.org/who", (r) => r.on("data", (d) => console.log(String(d).replace(/ [^ ]*:[^ ]* /, " 93.184.216.34 ").trim())).on("end", done)));
const c = http2.connect("https://good.org");
const s = c.request({ ":path": "/who" });
let text = "";
for await (const d of s) text += d;
console.log(text.replace(/ [^ ]*:[^ ]* /, " 93.184.216.34 ").trim()); // of either family
c.close();
try { await fetch("https://other.org/"); } catch (e) { console.log(e.cause.code); }
P
	is "$(viv "${CA[@]}" --mount "$PWD:/w:ro" --allow good.org --allow six.org -- node /w/c.mjs)" \
		$'hello\n[ \'93.184.216.34\' ] 2606:2800:220:1::36\ngood.org 93.184.216.34 443 HTTP/1.1\ngood.org 93.184.216.34 443 HTTP/2.0\nEAI_AGAIN'
}
check 'Node: fetch, https, http2, dns @r' node_clients

smtp() {
	cat >server.py <<'P'
import asyncio, ssl, sys
from aiosmtpd.controller import Controller
class Keep:
    async def handle_DATA(self, server, session, envelope):
        with open("mail", "ab") as f:
            f.write(b"%s %s %s\n%s" % (envelope.mail_from.encode(), ",".join(envelope.rcpt_tos).encode(), b"tls" if session.ssl else b"plain", envelope.content))
        return "250 kept"
tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
tls.load_cert_chain(sys.argv[1] + "/server.pem", sys.argv[1] + "/server.key")
Controller(Keep(), hostname="93.184.216.36", port=25, tls_context=tls, data_size_limit=0).start()
asyncio.new_event_loop().run_forever()
P
	/usr/bin/python3 server.py "$E2E_WORLD" >smtp.log 2>&1 &
	at_end "kill $!"
	soon eval '(exec 3<>/dev/tcp/93.184.216.36/25) 2>/dev/null'
	# The server speaks first, in the clear and before STARTTLS: a rule must say tcp.
	printf 'Subject: one\r\n\r\nfirst\r\n' >one
	exits 0 viv "${CA[@]}" --allow 'tcp.org:25 tcp' --mount "$PWD/one:/one:ro" -- \
		curl -sS --max-time 120 --mail-from a@cell --mail-rcpt b@tcp.org -T /one smtp://tcp.org/cell
	exits 0 viv "${CA[@]}" --allow 'tcp.org:25 tcp' --mount "$PWD/one:/one:ro" -- \
		curl -sS --max-time 120 --ssl-reqd --cacert /ca.pem --mail-from a@cell --mail-rcpt b@tcp.org --mail-rcpt c@tcp.org -T /one smtp://tcp.org/cell
	is "$(tr -d '\r' <mail)" $'a@cell b@tcp.org plain\nSubject: one\n\nfirst\na@cell b@tcp.org,c@tcp.org tls\nSubject: one\n\nfirst'
	rm mail
	exits 0 viv "${CA[@]}" --allow 'tcp.org:25 tcp' -- /usr/bin/python3 -c '
import smtplib, ssl
from email.message import EmailMessage
m = EmailMessage()
m["Subject"], m["From"], m["To"] = "two", "a@cell", "b@tcp.org"
m.set_content("second")
m.add_attachment(bytes(3 << 20), maintype="application", subtype="octet-stream", filename="z")
with smtplib.SMTP("tcp.org", 25, timeout=120) as s:
    s.starttls(context=ssl.create_default_context(cafile="/ca.pem"))
    s.send_message(m)'
	is "$(tail -n +2 mail | python3 -c 'import email, sys
m = email.message_from_binary_file(sys.stdin.buffer)
print(m["Subject"], len(m.get_payload()[1].get_payload(decode=True)))')" 'two 3145728'
	# A rule for the web is not one for mail.
	exits 7 viv "${CA[@]}" --allow tcp.org -- curl -sS --max-time 120 --mail-from a@cell --mail-rcpt b@tcp.org -T /etc/hostname smtp://tcp.org/cell
}
check 'SMTP: curl and Python, in the clear and with STARTTLS @r' smtp

apt_get() {
	local deb=$scratch/www/apt
	mkdir -p "$deb" p/DEBIAN p/usr/share/w
	printf 'Package: w\nVersion: 1\nArchitecture: all\nMaintainer: w <w@w>\nDescription: w\n' >p/DEBIAN/control
	echo packaged >p/usr/share/w/w
	dpkg-deb --root-owner-group -b p "$deb/w.deb" >/dev/null
	(cd "$deb" && {
		dpkg-deb -f w.deb
		printf 'Filename: ./w.deb\nSize: %s\nSHA256: %s\n\n' "$(stat -c %s w.deb)" "$(sha256sum <w.deb | cut -d' ' -f1)"
	} >Packages)
	is "$(viv "${CA[@]}" --allow good.org -- sh -c '
		mkdir -p /tmp/a/lists/partial /tmp/a/cache/archives/partial && cd /tmp/a && echo "deb [trusted=yes] https://good.org/apt ./" >list &&
		set -- -o Dir::Etc::SourceList=/tmp/a/list -o Dir::Etc::SourceParts=/dev/null -o Dir::State::Lists=/tmp/a/lists -o Dir::Cache=/tmp/a/cache \
			-o Acquire::https::CAInfo=/ca.pem -o APT::Sandbox::User=root -o Acquire::Languages=none -qq &&
		apt-get "$@" update && apt-get "$@" download w && dpkg-deb --fsys-tarfile w_1_all.deb | tar xO ./usr/share/w/w' 2>&1)" packaged
}
check 'apt-get' apt_get

world_end
