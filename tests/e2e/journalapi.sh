# Journals over the API: lists, pages, streams, heads, tokens, limits, and the records that vivd writes itself. shellcheck shell=bash

# A journal of a cell that is gone, with its id; it has RECORDS records.
made() { # id, records
	mkdir -p "$XDG_DATA_HOME/vivarium/journals"
	chmod 700 "$XDG_DATA_HOME/vivarium/journals"
	mkdir -m 700 "$XDG_DATA_HOME/vivarium/journals/$1"
	"$E2E_BUILD/tests/journal_make" "$XDG_DATA_HOME/vivarium/journals/$1" "$2" "$1"
	"$(dirname "$VIV")/viv-journal" seal "$XDG_DATA_HOME/vivarium/journals/$1" --all
}
dir_of() { echo "$XDG_DATA_HOME/vivarium/journals/$1"; }
A=0123456789abcdef0123456789abcdea
B=0123456789abcdef0123456789abcdeb
events() { api '/v1/events?since=0&follow=0'; }
has_event() { # type, text
	events | grep "\"type\":\"$1\"" | grep -q "$2"
}

reading() {
	own_vivd
	made $A 3000
	v daemon start
	api /v1/journals >list
	is "$(field journals.0.id <list) $(field journals.0.running <list)" "$A false"
	local n
	n=$(field journals.0.records <list)
	((n >= 3000))
	# Pages go on where the one before ended, and all of them are all of it.
	python3 - "$sock" $A "$n" <<'P'
import json, socket, sys, http.client
sock, cell, n = sys.argv[1], sys.argv[2], int(sys.argv[3])
def get(path, headers={}):
    c = http.client.HTTPConnection("vivd")
    c.sock = socket.socket(socket.AF_UNIX); c.sock.connect(sock)
    c.request("GET", path, headers=headers)
    return c.getresponse()
seqs, cursor = [], None
while True:
    r = get(f"/v1/cells/{cell}/journal?limit=700" + (f"&cursor={cursor}" if cursor else ""))
    assert r.status == 200, (r.status, r.read())
    page = json.load(r)
    seqs += [x["seq"] for x in page["records"]]
    assert len(page["records"]) <= 700 and "damaged" not in page
    cursor = page.get("next")
    if not cursor: break
assert seqs == list(range(1, n + 1)), (len(seqs), n)
# Filters.
page = json.load(get(f"/v1/cells/{cell}/journal?kind=exec&limit=5"))
assert {x["group"] for x in page["records"]} == {"exec"}, page
page = json.load(get(f"/v1/cells/{cell}/journal?since=10&until=12"))
assert [x["seq"] for x in page["records"]] == [10, 11, 12], page
# Lines, all of them.
lines = get(f"/v1/cells/{cell}/journal", {"Accept": "application/x-ndjson"}).read().decode().splitlines()
assert [json.loads(x)["seq"] for x in lines] == seqs
# Server-sent events, from a record on.
r = get(f"/v1/cells/{cell}/journal?kind=exec", {"Accept": "text/event-stream", "Last-Event-ID": str(n - 50)})
assert r.headers["Content-Type"] == "text/event-stream"
while True:
    line = r.readline().decode()
    if line.startswith("id: "): break
assert n - 50 < int(line[4:]) <= n
for bad in ("limit=0", "limit=1001", "cursor=x", "kind=nonsense", "since=yesterday%20", "other=1"):
    r = get(f"/v1/cells/{cell}/journal?{bad}")
    body = json.load(r)
    assert r.status == 400 and "message" in str(body), (bad, r.status, body)
# A value is a value, whatever it looks like.
assert get(f"/v1/cells/{cell}/journal?path=--follow").status in (200, 400)
r = get(f"/v1/cells/{cell}/journal/touched"); touched = json.load(r); assert r.status == 200 and touched
r = get(f"/v1/cells/{cell}/journal/timeline"); page = r.read(); assert r.status == 200 and b"<html" in page.lower()
path = json.load(get(f"/v1/cells/{cell}/journal?kind=write&limit=1"))["records"][0]["path"]
r = get(f"/v1/cells/{cell}/journal/blame?path={path}"); blame = json.load(r); assert r.status == 200 and "writers" in str(blame) or blame, blame
assert get(f"/v1/cells/{cell}/journal/blame").status == 400
assert get(f"/v1/cells/{cell}/journal/blame?path=relative").status == 400
assert get("/v1/cells/nobody/journal").status == 404
assert get("/v1/cells/..%2f..%2fetc/journal").status in (400, 404)
P
	is "$(api "/v1/cells/$A/journal/verify" -d '{"deep":true}' | field ok)" true
	is "$(status_of /v1/journals/$B -X DELETE)" 404
	is "$(status_of "/v1/journals/$A" -X DELETE)" 204
	fails test -e "$(dir_of $A)"
	has_event journal.removed asked
	is "$(api /v1/journals | field journals)" '[]'
}
check 'lists, pages, streams, filters, questions, removal' reading

heads() {
	own_vivd
	made $A 2000
	made $B 2000
	v daemon start
	api "/v1/cells/$A/journal/head" >head
	is "$(field hash <head)" "$(field kept.hash <head)"
	is "$(field records <head)" "$(field kept.records <head)"
	is "$(api "/v1/cells/$A/journal/verify" -d '{}' | field ok)" true
	# Cut at its end: what is left is good by itself.
	local segment last
	segment=$(find "$(dir_of $A)" -name '*.vjs' | sort | tail -n 1)
	last=$("$(dirname "$VIV")/viv-journal" head "$(dir_of $A)" --json | field block)
	python3 - "$segment" "$last" <<'P'
import struct, sys
data = open(sys.argv[1], "rb").read()
at, last = 0, int(sys.argv[2])
while True:
    number, packed = struct.unpack_from("<Q", data, at + 16)[0], struct.unpack_from("<I", data, at + 36)[0]
    if number == last: break
    at += 272 + packed
open(sys.argv[1], "r+b").truncate(at)
P
	api "/v1/cells/$A/journal/verify" -d '{}' >check
	is "$(field ok <check)" false
	has_event journal.damaged "$A"
	like "$(api "/v1/cells/$A/journal/head" | field damaged)" '*'
	is "$(field hash <head)" "$(api "/v1/cells/$A/journal/head" | field kept.hash)" 'it does not go back'
	# Told once, and known to the next vivd.
	v daemon stop
	v daemon start
	is "$(api "/v1/cells/$A/journal/verify" -d '{}' | field ok)" false
	is "$(events | grep -c '"journal.damaged"')" 1
	is "$(api "/v1/cells/$B/journal/verify" -d '{}' | field ok)" true
	# Removed behind its back.
	rm -rf "$(dir_of $B)"
	v daemon stop
	v daemon start
	soon has_event journal.damaged "$B"
}
check 'a journal that is cut or removed is found by the head that is kept' heads

tokens() {
	own_vivd
	local port cell other token read admin tcp
	made $A 100
	port=$(free_port)
	v daemon start --listen "127.0.0.1:$port"
	tcp=http://127.0.0.1:$port
	cell=$(make_cell '{"name":"mine","command":["sleep","1000"],"image":"host"}')
	other=$(make_cell '{"name":"other","command":["sleep","1000"],"image":"host"}')
	token=$(v token create --cell mine)
	read=$(v token create --scope read)
	admin=$(v token create)
	code() { curl -s -o /dev/null -w '%{http_code}' -H "Authorization: Bearer $1" "${@:3}" "$tcp$2"; }
	for path in '' /head /touched /timeline '/blame?path=/x'; do
		is "$(code "$token" "/v1/cells/$A/journal$path")" 404
		is "$(code "$token" "/v1/cells/$other/journal$path")" 404
		is "$(code "$token" "/v1/cells/other/journal$path")" 404
	done
	is "$(code "$token" "/v1/cells/$A/journal/verify" -d '{}')" 404
	is "$(curl -s -H "Authorization: Bearer $token" "$tcp/v1/journals" | field journals)" '[]'
	is "$(code "$read" "/v1/cells/$A/journal")" 200
	is "$(code "$token" "/v1/journals/$A" -X DELETE)" 403
	is "$(code "$read" "/v1/journals/$A" -X DELETE)" 403
	is "$(code x "/v1/cells/$A/journal")" 401
	is "$(code "$admin" "/v1/journals/$A" -X DELETE)" 204
	[[ $cell ]]
}
check 'a token for one cell sees no other journal @r' tokens

limits() {
	own_vivd
	made $A 20000
	made $B 100
	touch -d '40 days ago' "$(dir_of $A)"/*
	exits 2 v daemon start --journal-days x
	exits 2 v daemon start --journal-space 5X
	v daemon start --journal-days 30
	soon has_event journal.removed age
	fails test -e "$(dir_of $A)"
	[[ -e $(dir_of $B) ]]
	v daemon stop
	made $A 20000
	touch -d '2 days ago' "$(dir_of $A)"/*
	v daemon start --journal-space 50K
	soon has_event journal.removed size
	fails test -e "$(dir_of $A)"
	[[ -e $(dir_of $B) ]]
}
check 'old and large journals are removed, and that is told' limits

case_of() { python3 "$E2E_DIR/journalapi.py" "$VIV" "$PWD" "$1"; }
check 'sessions, prompts and their ends are recorded once, over kill -9 of vivd' case_of written
check 'answers and what the operator does are recorded, also while the cell does not run' case_of decided
check 'records that wait for a cell that is removed are appended to its journal' case_of orphans
check 'what a killed cell left in its ring is in its journal when it is removed' case_of killed
check 'a stream of records goes on with what comes later' case_of follows
