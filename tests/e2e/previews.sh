# Previews and fetches: previews.py is the browser, previewserver.py the server in a cell that has no network.

up() { # name
	v run -d --name "$1" --mount "$E2E_DIR:/e2e:ro" -- python3 /e2e/previewserver.py 8000 >/dev/null
	soon ready "$1"
}
ready() { [[ $(v logs "$1") == *ready* ]]; }
scene() {
	own_vivd
	up web
	up other
	SOCK=$sock python3 "$E2E_DIR/previews.py" "$@"
	# Nothing of it is left.
	soon settled
}
settled() { (($(ls "/proc/$(pid_of)/fd" | wc -l) < 60)); }
check 'both forms of an address, headers and cookies, one connection for many requests' scene forms
check 'bodies of requests: lengths, chunks, 100-continue, answers that come early' scene bodies
check 'WebSockets and events, which end with their preview' scene streams
check 'tokens that are forged, expired, revoked, or of another preview; names that are not ours' scene tokens
check 'requests and responses that are not clear, and floods of them' scene refused
check 'fetch: requests of programs' scene fetch
check '1 GiB both ways, and readers that do not read' scene large

rights() {
	local port
	own_vivd
	port=$(free_port)
	v daemon start --listen "127.0.0.1:$port"
	up web
	up other
	SOCK=$sock python3 "$E2E_DIR/previews.py" rights "$port"
}
check 'who may see and use previews; pages of previews and the API' rights

page() { curl -s -m 120 "$@"; }
lives() {
	own_vivd
	local url id
	up web
	url=$(v preview --path --expires 10m web 8000)
	like "$url" 'http://127.0.0.1:*/p/*/'
	like "$(page "$url")" '*GET / HTTP/1.1*'
	like "$(v preview ls)" "ID *8000 *"
	# Over the end of vivd, with the same address.
	kill -KILL "$(pid_of)"
	v ps >/dev/null
	like "$(page "$url")" '*GET / HTTP/1.1*' 'after kill -9'
	v daemon restart
	like "$(page "$url")" '*GET / HTTP/1.1*' 'after a restart'
	# The cell's states.
	v pause web >/dev/null
	(page "$url" >late) &
	v resume web >/dev/null
	wait $!
	like "$(cat late)" '*GET / HTTP/1.1*' 'paused'
	v stop -t 0 web >/dev/null
	is "$(page "$url" -o out -w '%{http_code}')" 503
	like "$(cat out)" '*the cell does not run; it is stopped*'
	v start web >/dev/null
	soon ready web
	like "$(page "$url")" '*GET / HTTP/1.1*' 'started again'
	id=$(v preview ls -q)
	is "$(v preview rm "$id")" "$id"
	is "$(page "$url" -o /dev/null -w '%{http_code}')" 403
	exits 3 v preview rm "$id"
	# A cell with the same name is another one.
	url=$(v preview --path web 8000)
	v rm -f web >/dev/null
	is "$(page "$url" -o /dev/null -w '%{http_code}')" 403
	up web
	is "$(page "$url" -o /dev/null -w '%{http_code}')" 403
	is "$(v preview ls -q)" ''
	exits 2 v preview web 0
	exits 2 v preview web http
	exits 3 v preview nosuch 80
	# A key that others can read is not used.
	chmod 644 state/vivarium/preview.key
	v daemon stop
	exits 1 v preview web 8000
	like "$(cat err)" '*preview.key*others can read it*'
}
check 'previews outlive vivd, follow the state of their cell, and go with it' lives

servers() {
	own_vivd
	local url
	mkdir site
	echo '<p>hi' >site/index.html
	v run -d --name node --mount "$PWD/site:/site:ro" -- node -e '
const http = require("http"), fs = require("fs");
http.createServer((q, s) => fs.createReadStream("/site/index.html").pipe(s)).listen(3000)' >/dev/null
	url=$(v preview --path node 3000)
	got() { [[ $(page "$url") == "$1" ]]; }
	soon got '<p>hi'
	if [[ -x /usr/sbin/nginx ]]; then
		cat >nginx.conf <<'CONF'
daemon off; pid /tmp/pid; error_log stderr; events {} user root;
http { access_log off; client_body_temp_path /tmp/a; proxy_temp_path /tmp/b; fastcgi_temp_path /tmp/c; uwsgi_temp_path /tmp/d; scgi_temp_path /tmp/e;
server { listen 80; root /site; } }
CONF
		v run -d --name nginx --mount "$PWD:/conf:ro" --mount "$PWD/site:/site:ro" -- nginx -c /conf/nginx.conf >/dev/null
		url=$(v preview --path nginx 80)
		soon got '<p>hi'
		# Its own form: a browser with cookies.
		url=$(v preview nginx 80)
		is "$(curl -s -m 120 -L -c jar "$url")" '<p>hi'
		grep -q '#HttpOnly_.*--80.localhost.*viv_preview' jar
	fi
}
check 'servers of Node and nginx' servers
