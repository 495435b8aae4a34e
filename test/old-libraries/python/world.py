"""Our own API, to compare with, and small things that checks need."""

import asyncio
import base64
import hmac
import inspect
import json
import os
import struct
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid

import py3xui

URL = os.environ["WEIR_URL"]
TOKEN = os.environ["WEIR_TOKEN"]
ADMIN = json.loads(os.environ["WEIR_ADMIN"])
PORTS = iter(json.loads(os.environ["WEIR_PORTS"]))
GIB = 1024**3
DAY = 86_400_000


def ours(path, body=None, method=None):
    """`obj` of a call of our API; None where there is nothing."""
    data = None if body is None else json.dumps(body).encode()
    headers = {"authorization": f"Bearer {TOKEN}", "content-type": "application/json"}
    method = method or ("GET" if data is None else "POST")
    request = urllib.request.Request(f"{URL}/panel/api/{path}", data, headers, method=method)
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.loads(answer.read())["obj"]
    except urllib.error.HTTPError as error:
        if error.code == 404:
            return None
        raise RuntimeError(f"{path}: {error.code} {error.read().decode()}") from error


class World:
    """A library that is logged in: `Api` or `AsyncApi`; both have the same methods."""

    def __init__(self, kind, **options):
        self.kind = kind
        self.loop = asyncio.new_event_loop()
        self.api = self.new(**options)

    def new(self, **options):
        given = options or {"username": ADMIN["username"], "password": ADMIN["password"]}
        return (py3xui.AsyncApi if self.kind == "async" else py3xui.Api)(URL, **given)

    def call(self, name, *args, api=None):
        """Calls a method by its name, like `client.add`, and waits for it."""
        target = api or self.api
        for part in name.split("."):
            target = getattr(target, part)
        result = target(*args)
        return self.loop.run_until_complete(result) if inspect.isawaitable(result) else result

    def inbound(self):
        body = {
            "remark": "of ours",
            "protocol": "vless",
            "listen": "127.0.0.1",
            "port": next(PORTS),
            "streamSettings": {"network": "ws", "wsSettings": {"path": "/a"}},
        }
        return ours("inbounds/add", body)["id"]

    def client(self, **fields):
        """A client on an inbound of its own, made with our API."""
        email = f"ann-{uuid.uuid4().hex[:8]}"
        inbound = self.inbound()
        ours("clients/add", {"client": {"email": email, **fields}, "inboundIds": [inbound]})
        return stored(email) | {"inboundId": inbound}


def stored(email):
    return ours(f"clients/get/{urllib.parse.quote(email)}")


def use(email, up, down):
    ours(f"clients/updateTraffic/{email}", {"upload": up, "download": down})


def usage(email):
    traffic = stored(email)["traffic"]
    return traffic["up"], traffic["down"]


def seen(email, ip):
    entry = {"clientEmail": email, "ips": [{"ip": ip, "timestamp": int(time.time())}]}
    ours("server/clientIps", [entry])


def same(found, wanted, what=""):
    if found != wanted:
        raise AssertionError(f"{what}: {found!r} instead of {wanted!r}")


def raised(call):
    """The error of a call that must fail."""
    try:
        result = call()
    except Exception as error:  # pylint: disable=broad-except
        return error
    raise AssertionError(f"it returned {result!r}")


def totp(secret):
    digest = hmac.digest(base64.b32decode(secret), struct.pack(">Q", int(time.time()) // 30), "sha1")
    start = digest[-1] & 15
    return f"{(struct.unpack('>I', digest[start : start + 4])[0] & 0x7FFFFFFF) % 10**6:06}"
