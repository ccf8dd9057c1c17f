"""Tests a webhook receiver, in any language, against the local service. It needs Python 3 and nothing else.

Start `npx campaign-client dev` and your receiver, both with the same CAMPAIGN_WEBHOOK_SECRET. Then run:

    python3 test_receiver.py http://127.0.0.1:3000/webhooks/campaign
"""

import json, sys, time, urllib.request

RECEIVER, CONTROL = (sys.argv[1:] + ["http://127.0.0.1:4600"])[:2]


def control(action, body=None):
    data = None if body is None else json.dumps(body).encode()
    headers = {"content-type": "application/json"}
    url = f"{CONTROL}/control/{action}"
    request = urllib.request.Request(url, data, headers)
    with urllib.request.urlopen(request, timeout=10) as response:
        return json.load(response)


def statuses(count):
    for _ in range(100):
        attempts = control("deliveries")[-1]["attempts"]
        if len(attempts) >= count:
            return [one.get("status", one.get("error")) for one in attempts]
        time.sleep(0.1)
    sys.exit(f"no attempt {count} within 10 s")


control("loadSeed", {"seed": {}})
control("saveWebhook", {"urls": [RECEIVER]})
control("addFault", {"on": "delivery", "kind": "bad_signature"})
control("emit", {"kind": "action_completed", "account": "ada", "aid": "follow"})
assert statuses(1) == [401], f"a forged message: {statuses(1)}"
control("advanceToNextRetry", {})
assert statuses(2) == [401, 200], f"the retry: {statuses(2)}"
print("the receiver refuses a forged message and accepts the retry")
