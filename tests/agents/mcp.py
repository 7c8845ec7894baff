"""A real agent on the host that has 'viv mcp' as its MCP server: mcp.py AGENT MODEL-LOG KEY

The agent is told of the server over ACP, in session/new. The model calls three of its tools: it makes a cell, runs a command there, and
reads the file that the command wrote. Output as drive.py.
"""
import json
import os
import subprocess
import sys
import time

from known import Known, prompt_of, requests_of
from native import Native

NAME, LOG, KEY = sys.argv[1:4]
VIV = os.environ["VIV"]
CELL = "made-by-agent"


def viv(*words):
    return subprocess.run([VIV, *words], check=True, capture_output=True, text=True, timeout=60).stdout


def turn(agent, session, steps):
    """How it ended, and what was said. An agent may begin before its server is ready, and then offers the model no tools of it."""
    end = time.monotonic() + 120
    while True:
        since = len(agent.updates)
        reason = agent.prompt(session, prompt_of(*steps)).result(300)["stopReason"]
        said = agent.text(since=since)
        if "There is no tool" not in said or time.monotonic() > end:
            return reason, said
        time.sleep(0.5)


def main():
    native = Native(VIV, Known(VIV, NAME), KEY)
    places = [{"name": name, "value": os.environ[name]} for name in ("XDG_DATA_HOME", "XDG_RUNTIME_DIR", "XDG_STATE_HOME", "XDG_CONFIG_HOME", "HOME", "PATH")]
    server = {"name": "vivarium", "command": VIV, "args": ["mcp", "--", "--memory", "256M"], "env": places}
    agent = native.start(native.known.mcp_env)
    try:
        agent.initialize()
        session = agent.call("session/new", cwd=native.work, mcpServers=[server]).result()["sessionId"]
        steps = [["call", "cell_create", {"name": CELL}],
                 ["call", "exec", {"cell": CELL, "script": "echo $((6 * 7)) >/root/answer; nproc"}],
                 ["call", "file_read", {"cell": CELL, "path": "/root/answer"}],
                 ["say", "The cell says: {result}"]]
        reason, said = turn(agent, session, steps)
        assert reason == "end_turn" and "42" in said.rpartition("The cell says")[2], (reason, said)
    finally:
        agent.close()
    assert json.loads(viv("inspect", CELL, "--json").splitlines()[0])["name"] == CELL
    assert viv("exec", CELL, "--", "cat", "/root/answer") == "42\n"
    called = [r["answer"] for r in requests_of(LOG) if isinstance(r.get("answer"), list)]
    assert len(called) >= 3, called
    print("ok %s calls %s" % (NAME, ", ".join(c[0] for c in called)), flush=True)


try:
    main()
finally:
    subprocess.run([VIV, "rm", "-f", CELL], capture_output=True, timeout=60)
