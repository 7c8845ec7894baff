"""Chromium on the page of a timeline whose texts are hostile: timeline.py PROFILE SHOTS PAGE. Prints what is wrong, and ends with 1 then."""
import asyncio
import base64
import json
import os
import subprocess
import sys
import urllib.request

import websockets

PROFILE, SHOTS, PAGE = sys.argv[1:]
wrong = []


def check(good, what, got=None):
    print("#", what, "" if got is None else repr(got)[:200], "" if good else "WRONG", flush=True)
    if not good:
        wrong.append(what)


class Page:
    def __init__(self, socket):
        self.socket, self.last, self.events = socket, 0, []

    async def call(self, method, **params):
        self.last += 1
        await self.socket.send(json.dumps({"id": self.last, "method": method, "params": params}))
        while True:
            m = json.loads(await asyncio.wait_for(self.socket.recv(), 120))
            if "method" in m:
                self.events.append(m)
            if m.get("id") == self.last:
                assert "error" not in m, (method, m)
                return m["result"]

    async def run(self, code):
        r = await self.call("Runtime.evaluate", expression=code, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in r, (code, r)
        return r["result"].get("value")

    async def shot(self, name):
        await self.run("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
        data = base64.b64decode((await self.call("Page.captureScreenshot", format="png"))["data"])
        with open(f"{SHOTS}/timeline-{name}.png", "wb") as f:
            f.write(data)
        return data

    async def click(self, x, y, count=1):
        for n in range(1, count + 1):
            for kind in ("mousePressed", "mouseReleased"):
                await self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=n)


async def main(port):
    with urllib.request.urlopen(urllib.request.Request(f"http://127.0.0.1:{port}/json/new?about:blank", method="PUT"), timeout=60) as r:
        url = json.load(r)["webSocketDebuggerUrl"]
    async with websockets.connect(url, max_size=1 << 26, ping_interval=None) as socket:
        page = Page(socket)
        for domain in ("Page", "Runtime", "Network", "Log"):
            await page.call(domain + ".enable")
        await page.call("Page.navigate", url="file://" + PAGE)
        for _ in range(600):
            if await page.run("document.readyState + location.protocol") == "completefile:":
                break
            await asyncio.sleep(0.1)
        check(await page.run("document.title") == "</script><script>document.title='owned'</script> - timeline", "the title is text", await page.run("document.title"))
        check(await page.run("document.scripts.length") == 2 and await page.run("document.images.length") == 0, "no name became an element")
        check("<img src=x onerror" in await page.run("document.body.innerText"), "names are shown as they are")
        first = await page.shot("all")
        at = await page.run("(() => { const r = document.getElementById('c').getBoundingClientRect(); return [r.left, r.top]; })()")
        await page.click(at[0] + 60, at[1] + 26 + 20 * 2 + 10)
        side = await page.run("document.getElementById('side').innerText")
        check("alert(1)" in side and "denied" in side and "started by" in side, "a click shows a process", side)
        picked = await page.shot("picked")
        await page.run("document.getElementById('in').click()")
        zoomed = await page.shot("zoomed")
        check(len({first, picked, zoomed}) == 3, "clicking and zooming draw anew")
        await page.run("(() => { const f = document.getElementById('find'); f.value = 'gnp.exe'; f.oninput(); })()")
        check(await page.run("rows.length") < await page.run("order.length"), "finding leaves others out")
        shown = await page.run("document.body.innerText + JSON.stringify(data)")
        check(not [c for c in shown if ord(c) < 32 and c not in "\n\t" or 0x7f <= ord(c) < 0xa0 or 0x202a <= ord(c) <= 0x202e or 0x2066 <= ord(c) <= 0x2069],
              "no controls and no marks of direction")
        asked = [e["params"]["request"]["url"] for e in page.events if e["method"] == "Network.requestWillBeSent"]
        check(asked == ["file://" + PAGE], "nothing else is loaded", asked)
        await page.run("document.body.insertAdjacentHTML('beforeend', '<img src=x onerror=\"document.title=1\">'); new Promise(done => setTimeout(done, 300))")
        check(await page.run("document.title") != "1", "the policy lets no other script run")
        await page.run("fetch('http://127.0.0.1:1/').catch(() => 0)")
        names = [e["method"] for e in page.events]
        check("Runtime.exceptionThrown" not in names, "no errors in the script", [e for e in page.events if e["method"] == "Runtime.exceptionThrown"])
        blocked = [e for e in page.events if e["method"] == "Log.entryAdded" and "Content Security Policy" in e["params"]["entry"]["text"]]
        check(blocked, "and what tries is refused by the policy")


chromium = subprocess.Popen(["chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--remote-debugging-port=0",
                             "--remote-allow-origins=*", "--disable-background-networking", "--window-size=1300,800", "--user-data-dir=" + PROFILE, "about:blank"],
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
