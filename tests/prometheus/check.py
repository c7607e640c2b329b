"""Checks the rules and the dashboard in a running Prometheus.

usage: check.py URL DASHBOARD GREETING_OF_THE_SERVER PROCESS_OF_THE_SERVER
"""

import json
import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request

url, dashboard, greeting, server = sys.argv[1:]

# Metrics of replicas of Postgres, of broken rows, and of errors that do not occur here.
WITHOUT_DATA = [
    "forum_server_reads_total",
    "forum_api_unreadable_rows_total",
    "forum_api_error_reasons_total",
]


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
    dashboard = json.load(file)
targets = [target["expr"] for panel in dashboard["panels"] for target in panel["targets"]]
series = {"match[]": "forum_server_build_info"}
variables = {name: "|".join(api(f"label/{name}/values", **series)) for name in ("job", "instance")}
for variable in dashboard["templating"]["list"][1:]:
    assert variables[variable["name"]] and variable["query"].startswith("label_values(forum_server_build_info")
for panel in dashboard["panels"]:
    for step in panel["fieldConfig"]["defaults"].get("thresholds", {"steps": []})["steps"][1:]:
        assert any(rule["query"].endswith(f"> {step['value']}") for rule in rules().values()), panel["title"]

with open(greeting) as file:
    words = file.read().split()
forum = words[words.index("API") + 1].removesuffix("forums")
token = next(word for word in words if word.startswith("forum_pat_"))


def request(path, **options):
    try:
        urllib.request.urlopen(urllib.request.Request(forum + path, **options)).close()
    except urllib.error.HTTPError as error:
        assert error.code == 429, error


def without_data():
    for _ in range(10):
        request("forums")
    expressions = (
        expression.replace("$__rate_interval", "1m").replace("$job", variables["job"]).replace("$instance", variables["instance"])
        for expression in targets
    )
    return [expression for expression in expressions if not api("query", query=expression)["result"]]


# The server refuses deliveries to its own address.
add = [f"/proc/{server}/exe", "webhook", "add", words[words.index("health") + 1]]
subprocess.run(add, check=True, stdout=subprocess.DEVNULL)
headers = {"authorization": f"Bearer {token}", "content-type": "application/json"}
request("threads/16/posts", data=b'{"body": "An event."}', headers=headers)
wait_until(lambda: all(any(name in expression for name in WITHOUT_DATA) for expression in without_data()))
print(f"{len(rules())} rules, {len(targets)} expressions of the dashboard")

os.kill(int(server), signal.SIGKILL)
wait_until(lambda: rules()["ForumDown"]["state"] == "pending")
