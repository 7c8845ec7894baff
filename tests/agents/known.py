"""What the tests expect of each agent, beyond its definition (agents/NAME.yaml), and what they set for it."""
import json
import os
import subprocess

# secret: the key that it gets. asks: it asks for permission before it runs a command. minute: it names the file of a session by the minute,
# and writes over one that it loads within that minute. env, files: besides those of the definition. mcp_env: the same where it has an MCP server.
AGENTS = {
    # It has no permission requests at all.
    "pi": dict(secret="ANTHROPIC_API_KEY", asks=False),
    # It offers the tools of MCP servers only after the model has searched for them, unless it is told not to.
    "claude": dict(secret="ANTHROPIC_API_KEY", asks=True, mcp_env={"ENABLE_TOOL_SEARCH": "false"}),
    # Its mode without a sandbox, which the definition has, never asks. This one asks for what is to run outside of its sandbox, which does not work in a cell: the
    # model wants that of every command.
    "codex": dict(secret="OPENAI_API_KEY", asks=True, env={"INITIAL_AGENT_MODE": "read-only"}),
    "codex-full": dict(agent="codex", secret="OPENAI_API_KEY", asks=False),
    # It asks only if it is told to; without a model it takes one of its own makers', at opencode.ai.
    "opencode": dict(secret="ANTHROPIC_API_KEY", asks=True, files={
        "/root/.config/opencode/opencode.json": '{"autoupdate": false, "share": "disabled", "model": "anthropic/claude-sonnet-4-5", "permission": {"bash": "ask", "edit": "allow"}}'}),
    "gemini": dict(secret="GEMINI_API_KEY", asks=True, minute=True),
}


class Known:
    """An agent: its definition, as vivd has it, and the above."""

    def __init__(self, viv, name):
        more = AGENTS[name]
        shown = subprocess.run([viv, "agent", "show", "--json", more.get("agent", name)], check=True, capture_output=True, text=True, timeout=60)
        self.definition = json.loads(shown.stdout)
        self.name, self.image = more.get("agent", name), self.definition["image"]
        self.acp, self.rules = self.definition["acp"], self.definition["network"]
        self.secret, self.asks, self.minute = more["secret"], more["asks"], more.get("minute", False)
        self.own_env, self.own_files, self.mcp_env = more.get("env", {}), more.get("files", {}), more.get("mcp_env", {})
        self.env = {**(self.definition.get("env") or {}), **self.own_env}
        self.files = {**(self.definition.get("files") or {}), **self.own_files}

    @staticmethod
    def put_files(home, files):
        """Writes files below a directory that becomes /root."""
        os.makedirs(home, exist_ok=True)
        for path, content in files.items():
            to = os.path.join(home, os.path.relpath(path, "/root"))
            os.makedirs(os.path.dirname(to), exist_ok=True)
            with open(to, "w") as f:
                f.write(content)


def prompt_of(*steps):
    """A prompt with a script for the model (model.py)."""
    return "Follow the script <<<%s>>>" % json.dumps(steps)


def requests_of(log):
    """What the model was asked."""
    with open(log) as f:
        return [r for r in map(json.loads, f) if "known" in r]


def search(value, *tops):
    """The files below directories that have this in them."""
    found = []
    for top in tops:
        for at, _, files in os.walk(top):
            for name in files:
                path = os.path.join(at, name)
                if os.path.isfile(path) and not os.path.islink(path):
                    with open(path, "rb") as f:
                        if value.encode() in f.read():
                            found.append(path)
    return found


def model_had_key(log):
    """Every request had the key, in the right place, and nowhere else."""
    asked = requests_of(log)
    assert asked, "the model was never asked"
    bad = [r for r in asked if not r["known"] or r["leak"] or r["placeholder"]]
    assert not bad, bad[:3]
