import json, urllib.error, urllib.request

WALLET = "0x52908400098527886E0F7030069857D2E4169EE7"


def award(base_url, body):  # the code under test
    data = json.dumps(body).encode()
    headers = {
        "content-type": "application/json",
        "authorization": "Bearer a-token-for-tests",
    }
    url = f"{base_url}/wallet/reward"
    for attempt in range(3):
        try:
            request = urllib.request.Request(url, data, headers)
            return urllib.request.urlopen(request, timeout=10).close()
        except urllib.error.HTTPError as error:
            if error.code < 500 or attempt == 2:
                raise


def test_sends_an_award_again_after_a_503(local_service, control):
    fault = {"on": "rewardWallet", "kind": "status", "status": 503}
    control("addFault", fault)
    body = {"address": WALLET, "pid": "demo", "id": "order-7", "xp": 50}
    award(f"{local_service}api/v1", body)
    awards = control("state")["awards"]
    assert [(one["id"], one["xp"]) for one in awards] == [("order-7", 50)]
