#!/usr/bin/env python3
"""Container images, good and bad, for the theme 'image':

    containers.py DIRECTORY                          all of them
    containers.py --compare ARCHIVE                  whether it holds the tree of the good ones
    containers.py --configured LAYOUT ROOT.tar JSON  one with a configuration
"""
import gzip
import hashlib
import io
import json
import os
import subprocess
import sys
import tarfile

TAR = "application/vnd.oci.image.layer.v1.tar"


def layer(*entries):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.GNU_FORMAT) as f:
        for name, data in entries:
            t = tarfile.TarInfo(name)
            if data is None:
                t.type, t.mode = tarfile.DIRTYPE, 0o755
            elif isinstance(data, tuple):
                t.type, t.linkname = data
            else:
                t.size = len(data)
            f.addfile(t, io.BytesIO(data) if isinstance(data, bytes) else None)
    return out.getvalue()


LAYERS = [
    layer(("bin", (tarfile.SYMTYPE, "usr/bin")), ("usr", None), ("usr/bin", None), ("usr/bin/tool", b"tool"),
          ("etc", None), ("etc/gone", b"x"), ("etc/kept", b"kept"), ("opaque", None), ("opaque/old", b"old"),
          ("opaque/sub", None), ("opaque/sub/old", b"old"), ("d", None), ("d/x", b"x")),
    # The opaque mark may come behind what the layer itself puts there; both stay. 'bin/new' goes through a link.
    layer(("etc", None), ("etc/.wh.gone", b""), ("opaque/sub/new", b"new"), ("opaque/new", b"new"),
          ("opaque/.wh..wh..opq", b""), ("bin/new", b"new"), (".wh.d", b""), ("etc/.wh.never", b"")),
    layer(("etc/kept", b"changed"), ("d", b"a file now"), (".wh..wh.plnk", b"")),
]
WANT = {"bin": "usr/bin", "usr/bin/tool": b"tool", "usr/bin/new": b"new", "etc/kept": b"changed", "opaque/new": b"new",
        "opaque/sub/new": b"new", "d": b"a file now"}
CONFIG = {"Entrypoint": ["/bin/tool", "-x"], "Cmd": ["arg", ""], "Env": ["PATH=/bin", "B=ä"], "User": "nobody:123",
          "WorkingDir": "/etc", "Labels": {"z": "1", "a": "x=y"}, "ExposedPorts": {"80/tcp": {}}, "Volumes": {"/v": {}},
          "StopSignal": "SIGINT"}


def digest(data):
    return hashlib.sha256(data).hexdigest()


def config(layers, arch="amd64"):
    return json.dumps({"architecture": arch, "os": "linux", "config": CONFIG,
                       "rootfs": {"type": "layers", "diff_ids": ["sha256:" + digest(x) for x in layers]}}).encode()


def write(path, data):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as f:
        f.write(data)


class Layout:
    def __init__(self, top):
        self.top = top
        write(top + "/oci-layout", b'{"imageLayoutVersion": "1.0.0"}')

    def blob(self, data, kind):
        write("%s/blobs/sha256/%s" % (self.top, digest(data)), data)
        return {"mediaType": kind, "digest": "sha256:" + digest(data), "size": len(data)}

    def image(self, layers, pack=(lambda x: x, ""), arch="amd64"):
        manifest = {"schemaVersion": 2, "config": self.blob(config(layers, arch), "application/vnd.oci.image.config.v1+json"),
                    "layers": [self.blob(pack[0](x), TAR + pack[1]) for x in layers]}
        return self.blob(json.dumps(manifest).encode(), "application/vnd.oci.image.manifest.v1+json")

    def index(self, manifests):
        write(self.top + "/index.json", json.dumps({"schemaVersion": 2, "manifests": manifests}).encode())


def zstd(data):
    return subprocess.run(["zstd", "-q", "-c"], input=data, stdout=subprocess.PIPE, check=True).stdout


def pack(directory, names, out, first=()):
    with tarfile.open(out, "w") as f:
        for name in list(first) + sorted(names):
            f.add(os.path.join(directory, name), name, recursive=False)


def docker(top, file, layers, pack_layer=lambda x: x, links=False, lie=False):
    c = config(layers)
    names = []
    images = [{"Config": digest(c) + ".json", "RepoTags": ["app:1"], "Layers": []}]
    write("%s/%s.json" % (top, digest(c)), c)
    with tarfile.open(file, "w") as f:
        f.add("%s/%s.json" % (top, digest(c)), digest(c) + ".json")
        for i, data in enumerate(layers):
            name = "%s/layer.tar" % digest(b"%d" % i)
            names.append(name)
            images[0]["Layers"].append(name)
            if links and data in layers[:i]:
                t = tarfile.TarInfo(name)
                t.type, t.linkname = tarfile.SYMTYPE, "../" + names[layers.index(data)]
                f.addfile(t)
                continue
            packed = pack_layer(data + b"x" if lie and i == 1 else data)
            t = tarfile.TarInfo(name)
            t.size = len(packed)
            f.addfile(t, io.BytesIO(packed))
        m = json.dumps(images).encode()
        t = tarfile.TarInfo("manifest.json")
        t.size = len(m)
        f.addfile(t, io.BytesIO(m))


def archive(file, *parts):
    with tarfile.open(file, "w") as f:
        for name, data in parts:
            t = tarfile.TarInfo(name)
            t.size = len(data)
            f.addfile(t, io.BytesIO(data))


def others(top):
    """As other programs write what 'docker save' does: names and order differ, layers are compressed."""
    c = config(LAYERS)
    gz = [gzip.compress(x) for x in LAYERS]
    layers = [(digest(x) + ".tar.gz", x) for x in gz]

    def manifest(name):
        return ("manifest.json", json.dumps([{"Config": name, "RepoTags": ["app:1"], "Layers": [n for n, _ in layers]}]).encode())
    archive(top + "/crane.tar", ("sha256:" + digest(c), c), *layers, manifest("sha256:" + digest(c)))
    archive(top + "/jib.tar", *layers, ("config.json", c), manifest("config.json"))
    archive(top + "/bad-crane.tar", ("sha256:" + digest(c), c.replace(b"linux", b"linux ")), *layers, manifest("sha256:" + digest(c)))
    archive(top + "/two.tar", (digest(c) + ".json", c), *layers, ("manifest.json", json.dumps(
        [{"Config": digest(c) + ".json", "RepoTags": [tag], "Layers": [n for n, _ in layers]} for tag in ("app:1", "app:2")]).encode()))
    for name, data in ((digest(c) + ".json", c), *layers, manifest(digest(c) + ".json")):
        write("%s/unpacked/%s" % (top, name), data)
    # No container images, though they start like one.
    archive(top + "/web.tar", ("manifest.json", b'{"name": "app"}'), ("index.html", b"hello"))
    archive(top + "/blobs.tar", ("blobs/sha256", b"mine"), ("index.html", b"hello"))


def main(top):
    os.makedirs(top)
    others(top)
    plain = Layout(top + "/plain")
    plain.index([plain.image(LAYERS)])
    gz = Layout(top + "/gz")
    gz.index([gz.image(LAYERS, (gzip.compress, "+gzip"))])
    zst = Layout(top + "/zst")
    zst.index([zst.image(LAYERS, (zstd, "+zstd"))])
    for name in ("plain", "gz"):
        subprocess.run(["tar", "-C", top + "/" + name, "-cf", "%s/%s.tar" % (top, name), "."], check=True)
    many = Layout(top + "/many")
    nested = many.blob(json.dumps({"manifests": [
        dict(many.image(LAYERS, arch="arm64"), platform={"os": "linux", "architecture": "arm64"}),
        dict(many.image(LAYERS), platform={"os": "linux", "architecture": "amd64"})]}).encode(),
        "application/vnd.oci.image.index.v1+json")
    many.index([dict(nested, annotations={"org.opencontainers.image.ref.name": "one"}),
                dict(many.image(LAYERS[:1]), annotations={"org.opencontainers.image.ref.name": "two"})])
    # One platform twice, as for variants of a processor: the first counts. One image under two names is one image.
    amd64 = {"os": "linux", "architecture": "amd64"}
    first = Layout(top + "/first")
    twice = first.blob(json.dumps({"manifests": [
        dict(first.image(LAYERS[:1], arch="arm64"), platform={"os": "linux", "architecture": "arm64"}),
        dict(first.image(LAYERS), platform=amd64), dict(first.image(LAYERS[:1]), platform=dict(amd64, variant="v3")),
        dict(first.image(LAYERS[:2]), platform={"os": "unknown", "architecture": "unknown"})]}).encode(),
        "application/vnd.oci.image.index.v1+json")
    first.index([dict(twice, annotations={"org.opencontainers.image.ref.name": name}) for name in ("1.0", "latest")])
    docker(top + "/d1", top + "/docker.tar", LAYERS)
    docker(top + "/d2", top + "/docker-gz.tar", LAYERS, gzip.compress)
    docker(top + "/d3", top + "/docker-links.tar", LAYERS + LAYERS[2:], links=True)

    # ---- bad ones ----
    docker(top + "/d4", top + "/bad-docker-digest.tar", LAYERS, lie=True)
    docker(top + "/d5", top + "/bad-docker-digest-gz.tar", LAYERS, gzip.compress, lie=True)
    for name, change in (("layer", LAYERS[0]), ("config", config(LAYERS))):
        bad = Layout(top + "/bad-" + name)
        bad.index([bad.image(LAYERS)])
        write("%s/blobs/sha256/%s" % (bad.top, digest(change)), change.replace(b"tool", b"evil").replace(b"linux", b"linux "))
    bad = Layout(top + "/bad-missing")
    bad.index([bad.image(LAYERS)])
    os.unlink("%s/blobs/sha256/%s" % (bad.top, digest(LAYERS[1])))
    bad = Layout(top + "/bad-arch")
    bad.index([bad.image(LAYERS, arch="arm64")])
    bad = Layout(top + "/bad-dotdot")
    bad.index([bad.image([layer(("../evil", b"x"))])])
    bad = Layout(top + "/bad-json")
    write(bad.top + "/index.json", b'{"manifests": [' + b"[" * 100000)
    bad = Layout(top + "/bad-digest")
    bad.index([{"mediaType": "x", "digest": "sha256:../../../../etc/passwd", "size": 1}])
    bad = Layout(top + "/bad-loop")
    bad.index([bad.blob(b'{"manifests": []}', "application/vnd.oci.image.index.v1+json")])
    bad = Layout(top + "/bad-link")
    bad.index([bad.image(LAYERS)])
    os.unlink("%s/blobs/sha256/%s" % (bad.top, digest(LAYERS[0])))
    os.symlink("/etc/passwd", "%s/blobs/sha256/%s" % (bad.top, digest(LAYERS[0])))
    write(top + "/bad-none.tar", layer(("manifest.json", b"[]"), ("x", b"")))
    write(top + "/bad-parts.tar", layer(("manifest.json", b"[]"), ("../x", b"")))
    write(top + "/bad-names.tar", layer(("manifest.json", b'[{"Config": "../../etc/passwd", "Layers": ["/etc/passwd"]}]')))


def compare(archive):
    """The tree of the good ones, in an exported archive."""
    got = {}
    with tarfile.open(archive) as f:
        for t in f:
            if not t.isdir():
                got[t.name] = t.linkname if t.issym() else f.extractfile(t).read()
    if got != WANT:
        sys.exit("got %r" % got)


def configured(top, root, text):
    """A layout of one layer, the tar archive root, with that configuration."""
    global CONFIG
    CONFIG = json.loads(text)
    with open(root, "rb") as f:
        data = f.read()
    one = Layout(top)
    one.index([one.image([data])])


if __name__ == "__main__":
    if sys.argv[1] == "--compare":
        compare(sys.argv[2])
    elif sys.argv[1] == "--configured":
        configured(*sys.argv[2:])
    else:
        main(sys.argv[1])
