# The page of 'viv timeline --html' in a browser, with texts that try to be more than text. shellcheck shell=bash

timeline_page() {
	"$E2E_BUILD/tests/unit/test_journalshow" "$PWD/page.html" >/dev/null
	mkdir tmp
	TMPDIR=$PWD/tmp /usr/bin/python3 "$E2E_THEMES/timeline.py" "$PWD/profile" "$BROWSER_SHOTS" "$PWD/page.html"
}
if command -v chromium >/dev/null; then
	check 'the page of a timeline shows hostile names as text, runs nothing else and loads nothing' timeline_page
else
	lack 'the page of a timeline shows hostile names as text, runs nothing else and loads nothing' 'chromium is not installed'
fi
