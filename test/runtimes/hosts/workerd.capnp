using Workerd = import "/workerd/workerd.capnp";

const config :Workerd.Config = (
  services = [
    (name = "suite", worker = .worker),
    # The worker can connect to loopback only.
    (name = "loopback", network = (allow = ["local"])),
  ],
);

const worker :Workerd.Worker = (
  modules = [(name = "worker.js", esModule = embed "worker.js")],
  compatibilityDate = "2026-10-23",
  globalOutbound = "loopback",
  bindings = [
    (name = "address", text = embed "address.json"),
    (name = "self", service = "suite"),
  ],
);
