"""Checks the rules and the dashboard in a running Prometheus.

usage: check.py URL DASHBOARD PROCESS_OF_THE_SERVER
"""

import json
import os
import signal
import sys
import time
import urllib.error
import urllib.parse
import urllib.request

url, dashboard, server = sys.argv[1:]


def api(path, **parameters):
    query = urllib.parse.urlencode(parameters)
    with urllib.request.urlopen(f"{url}/api/v1/{path}?{query}") as response:
        return json.load(response)["data"]


def rules():
    return {rule["name"]: rule for rule in api("rules")["groups"][0]["rules"]}


def wait_until(condition):
    deadline = time.monotonic() + 60
    while True:
        try:
            if condition():
                return
        except (urllib.error.URLError, IndexError):
            pass
        assert time.monotonic() < deadline, "the condition does not hold within a minute"
        time.sleep(0.2)


def is_up():
    return api("query", query='up{job="forum"}')["result"][0]["value"][1] == "1"


wait_until(is_up)
wait_until(lambda: api("query", query="forum_api_delivery_queue_age_seconds")["result"])
wait_until(lambda: all(rule["health"] == "ok" for rule in rules().values()))
wait_until(lambda: all(rule["state"] == "inactive" for rule in rules().values()))

with open(dashboard) as file:
    panels = json.load(file)["panels"]
empty = []
for panel in panels:
    for target in panel["targets"]:
        expression = target["expr"].replace("$__rate_interval", "1m")
        if not api("query", query=expression)["result"]:
            empty.append(expression)
print(f"{len(rules())} rules, {len(panels)} panels; without data on a new board:", *empty, sep="\n  ")

os.kill(int(server), signal.SIGKILL)
wait_until(lambda: rules()["ForumDown"]["state"] == "pending")
