import json, subprocess, urllib.request
import pytest

PROGRAM = "node_modules/campaign-client/dist/cli/main.js"


@pytest.fixture(scope="session")
def local_service():
    flags = ["dev", "--port", "0", "--quiet"]
    command = ["node", PROGRAM, *flags]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as dev:
        url = dev.stdout.readline().strip()
        assert url, "dev did not start: see its output above"
        yield url
        dev.terminate()


@pytest.fixture
def control(local_service):
    def send(action, body=None):
        data = None if body is None else json.dumps(body).encode()
        headers = {"content-type": "application/json"}
        url = f"{local_service}control/{action}"
        request = urllib.request.Request(url, data, headers)
        with urllib.request.urlopen(request, timeout=10) as response:
            return json.load(response)

    send("reset", {})
    yield send
    assert send("faults")["faults"] == [], "the test did not use a fault"
