# Previews as a browser keeps them apart: pages of one cell against those of another and against the API. shellcheck shell=bash

ready() { [[ $(curl -s -o /dev/null -w '%{http_code}' -m 60 "$1") == 200 ]]; }
apart() {
	local port name
	own_vivd
	port=$(free_port)
	v daemon start --listen "127.0.0.1:$port"
	for name in one two; do
		mkdir "$name"
		printf '<!doctype html><title>%s</title><body style="background: %s"><h1>cell %s</h1><script>document.title += " runs"</script>' \
			"$name" "$([[ $name == one ]] && echo gold || echo skyblue)" "$name" >"$name/index.html"
		echo "secret of $name" >"$name/secret.txt"
		v run -d --name "$name" --mount "$PWD/$name:/site:ro" -w /site -- python3 -m http.server 8000 >/dev/null
		soon ready "$(v preview --path "$name" 8000)"
	done
	# What Chromium leaves in its temporary directory goes with the test's.
	mkdir tmp
	TMPDIR=$PWD/tmp /usr/bin/python3 "$E2E_THEMES/browser.py" "$PWD/profile" "$BROWSER_SHOTS" "$(v preview one 8000)" "$(v preview two 8000)" \
		"$(v preview --path one 8000)" "$(v preview --path two 8000)" "http://127.0.0.1:$port" "$(v token create)"
}
if command -v chromium >/dev/null; then
	check 'two previews and the API cannot script, read or set cookies for each other' apart
else
	lack 'two previews and the API cannot script, read or set cookies for each other' 'chromium is not installed'
fi
