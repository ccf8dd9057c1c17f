using Workerd = import "/workerd/workerd.capnp";

const config :Workerd.Config = (
  services = [
    (name = "suite", worker = .worker),
    # Loopback and nothing else.
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
