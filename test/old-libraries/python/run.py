"""Runs all checks, for `Api` and for `AsyncApi`, and writes one line of JSON for each: its name, and what went wrong."""

import inspect
import json
import os
import sys
import traceback

import py3xui

from checks import GIVEN, METHODS, OTHERS
from world import World, raised, same

# From test/old-libraries/methods.ts: method to whether it works.
TABLE = json.loads(os.environ["WEIR_METHODS"])
OWN = {"login", "from_env"}


def methods_of(api):
    """Every public method of the library and its parts."""
    names = {"login"}
    for part in ("client", "inbound", "server", "database"):
        target = getattr(api, part)
        names |= {
            f"{part}.{name}"
            for name, _ in inspect.getmembers(type(target), callable)
            if not name.startswith("_") and name not in OWN
        }
    return names


def missing(world, name):
    error = raised(lambda: world.call(name, *GIVEN.get(name, ())))
    response = getattr(error, "response", None)
    hint = f"{error!r}; if the endpoint is there now, add a check of it"
    same(response is not None and response.status_code, 404, hint)
    same(response.json()["code"], "KERNEL_NOT_FOUND", hint)


def report(name, check):
    failure = ""
    try:
        check()
    except BaseException:  # pylint: disable=broad-except
        failure = traceback.format_exc()[-3000:]
    print(json.dumps({"name": name, "failure": failure}), flush=True)


def run(kind):
    world = World(kind)
    report(f"{kind}: the table has every method", lambda: same(sorted(methods_of(world.api)), sorted(TABLE)))
    works = sorted(name for name in TABLE if TABLE[name])
    report(f"{kind}: every method that works has a check", lambda: same(sorted(METHODS), works))
    report(f"{kind}: logs in", lambda: world.call("login"))
    for name, check in {**METHODS, **OTHERS}.items():
        report(f"{kind}: {name}", lambda: check(world))  # pylint: disable=cell-var-from-loop
    for name in sorted(set(TABLE) - set(works)):
        report(f"{kind}: {name} is missing", lambda: missing(world, name))  # pylint: disable=cell-var-from-loop


if __name__ == "__main__":
    same(py3xui.__name__, "py3xui")
    for one in sys.argv[1:] or ["sync", "async"]:
        run(one)
