"""Chromium on previews: browser.py PROFILE SHOTS ONE TWO PATH_ONE PATH_TWO API TOKEN. Prints what is wrong, and ends with 1 then."""
import asyncio
import base64
import json
import os
import re
import subprocess
import sys
import urllib.parse
import urllib.request

import websockets

PROFILE, SHOTS, ONE, TWO, PATH_ONE, PATH_TWO, API, TOKEN = sys.argv[1:]
wrong = []


def check(good, what, got=None):
    print("#", what, "" if got is None else repr(got)[:200], "" if good else "WRONG", flush=True)
    if not good:
        wrong.append(what)


def plain(url):
    """Without the token, which a page of another cell does not know: in the path form, with another one."""
    if "/p/" in url:
        return re.sub("(/p/.{16}).*", "\\1" + "0" * 64 + "/", url)
    return urllib.parse.urlunsplit(urllib.parse.urlsplit(url)._replace(query=""))


class Page:
    def __init__(self, socket):
        self.socket, self.last = socket, 0

    async def call(self, method, **params):
        self.last += 1
        await self.socket.send(json.dumps({"id": self.last, "method": method, "params": params}))
        while True:
            m = json.loads(await asyncio.wait_for(self.socket.recv(), 120))
            if m.get("id") == self.last:
                assert "error" not in m, (method, m)
                return m["result"]

    async def go(self, url):
        await self.call("Page.navigate", url=url)
        for _ in range(1200):
            r = await self.run("document.readyState + ' ' + location.href")
            if r and r.startswith("complete ") and "about:blank" not in r:
                return r.split(" ", 1)[1]
            await asyncio.sleep(0.1)
        raise AssertionError(f"{url} is not loaded")

    async def run(self, code):
        """The value of an expression in the page; an exception is its name."""
        r = await self.call("Runtime.evaluate", expression=code, awaitPromise=True, returnByValue=True, userGesture=True)
        if "exceptionDetails" in r:
            return "exception " + r["exceptionDetails"].get("exception", {}).get("className", "?")
        return r["result"].get("value")

    async def shot(self, name):
        data = base64.b64decode((await self.call("Page.captureScreenshot", format="png"))["data"])
        with open(f"{SHOTS}/{name}.png", "wb") as f:
            f.write(data)
        return data


def tried(code):
    """JavaScript that gives what code gives, or the name of what it throws."""
    return "(async () => { try { return await (%s) } catch (e) { return 'threw ' + e.name } })()" % code


FETCH = "fetch(%s, %s).then(async r => r.status + ' ' + r.type + ' ' + (await r.text()).slice(0, 40))"


async def against(page, mine, other, api):
    """What a page of mine can do to the other and to the API."""
    # Reading: with and without the browser's own cookies.
    for what in plain(other), plain(other) + "secret.txt":
        for how in {"credentials": "include"}, {}, {"mode": "no-cors", "credentials": "include"}:
            got = await page.run(tried(FETCH % (json.dumps(what), json.dumps(how))))
            check(isinstance(got, str) and not got.startswith("200"), f"fetch of the other preview, {how}", got)
    for what in "/v1/cells", "/v1/version":
        for headers in {}, {"Authorization": "Bearer " + TOKEN}:
            for base in api, api.replace("127.0.0.1", "localhost"):
                got = await page.run(tried(FETCH % (json.dumps(base + what), json.dumps({"headers": headers}))))
                check(isinstance(got, str) and not got.startswith("200"), f"the API at {what}, {'with' if headers else 'without'} a token", got)
    got = await page.run(tried(f"new Promise(d => {{ const w = new WebSocket({json.dumps(plain(other).replace('http', 'ws', 1))}); w.onopen = () => d('open'); w.onerror = () => d('refused') }})"))
    check(got == "refused", "a WebSocket to the other preview", got)
    # Scripting: a frame, a window.
    frame = """new Promise(done => { const f = document.createElement('iframe'); f.src = %s; f.onload = () => {
        try { done('document ' + f.contentWindow.document.body.innerHTML.slice(0, 40)) } catch (e) { done('threw ' + e.name) } }; document.body.append(f) })"""
    got = await page.run(tried(frame % json.dumps(other)))
    check(got == "threw SecurityError", "the document of the other preview in a frame", got)
    got = await page.run(tried(f"(() => {{ const w = window.open({json.dumps(other)}); return new Promise(d => setTimeout(() => {{ try {{ d(w ? w.document.title : 'no window') }} "
                               "catch (e) { d('threw ' + e.name) } finally { w && w.close() } }, 2000)) })()"))
    check(got == "threw SecurityError", "the document of the other preview in a window", got)


async def cookies(page):
    """The page of one sets what it can; the other has none of it."""
    await page.go(ONE)
    await page.run("document.cookie = 'mine=1; path=/'; document.cookie = 'wide=1; path=/; domain=localhost'; document.cookie = 'dot=1; domain=.localhost';"
                   "document.cookie = 'viv_preview=forged; path=/; domain=localhost'; localStorage.setItem('kept', 'by one'); 0")
    got = await page.run("document.cookie")
    check(got == "mine=1", "cookies of a page: its own, and the token is not readable", got)
    await page.go(TWO)
    got = await page.run("document.cookie + '|' + localStorage.getItem('kept')")
    check(got == "|null", "cookies and storage of the other page", got)
    check(await page.run("document.querySelector('h1').textContent") == "cell two", "its preview still works")
    check(plain(await page.go(plain(TWO))) == plain(TWO) and await page.run("document.querySelector('h1').textContent") == "cell two", "with its own cookie")


async def sandboxed(page):
    """The path form: all previews have one host, so their pages have no origin."""
    await page.go(PATH_ONE)
    check(await page.run("document.title") == "one runs", "scripts run in the path form")
    got = await page.run("self.origin")
    check(got == "null", "its origin", got)
    for code in "document.cookie", "localStorage.length", "document.cookie = 'x=1'":
        got = await page.run(tried(code))
        check(isinstance(got, str) and got.startswith("threw SecurityError"), code, got)
    frame = """new Promise(done => { const f = document.createElement('iframe'); f.src = %s; f.onload = () => {
        try { done('document ' + f.contentWindow.document.body.innerHTML) } catch (e) { done('threw ' + e.name) } }; document.body.append(f) })"""
    got = await page.run(tried(frame % json.dumps(PATH_TWO)))
    check(got == "threw SecurityError", "another preview in a frame of it", got)


async def main(port):
    with urllib.request.urlopen(urllib.request.Request(f"http://127.0.0.1:{port}/json/new?about:blank", method="PUT"), timeout=60) as r:
        url = json.load(r)["webSocketDebuggerUrl"]
    async with websockets.connect(url, max_size=1 << 26, ping_interval=None) as socket:
        page = Page(socket)
        await page.call("Page.enable")
        await page.call("Runtime.enable")
        at = await page.go(ONE)
        check("viv_token" not in at, "the token is not in the address that is shown", at)
        check(await page.run("document.title + ' ' + document.querySelector('h1').textContent") == "one runs cell one", "the page of a cell")
        shot = await page.shot("one")
        check(shot[:8] == b"\x89PNG\r\n\x1a\n" and len(shot) > 2000, "a picture of it", len(shot))
        await against(page, ONE, TWO, API)
        await cookies(page)
        await sandboxed(page)
        await against(page, PATH_ONE, PATH_TWO, API)
        await page.shot("path")


chromium = subprocess.Popen(["chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--remote-debugging-port=0",
                             "--remote-allow-origins=*", "--disable-background-networking", "--window-size=800,400", "--user-data-dir=" + PROFILE, "about:blank"],
                            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, start_new_session=True)
try:
    port = None
    for line in chromium.stderr:
        if "DevTools listening on" in line:
            port = line.split("127.0.0.1:")[1].split("/")[0]
            break
    assert port, "chromium does not start"
    asyncio.run(main(port))
finally:
    os.killpg(chromium.pid, 15)
    chromium.communicate(timeout=60)
for line in wrong:
    print("wrong:", line)
sys.exit(1 if wrong else 0)
