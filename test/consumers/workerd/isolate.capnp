using Workerd = import "/workerd/workerd.capnp";

const config :Workerd.Config = (
  services = [
    (name = "isolate", worker = .worker),
    # The worker can connect to loopback only.
    (name = "loopback", network = (allow = ["local"])),
  ],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "isolate")],
);

const worker :Workerd.Worker = (
  modules = [(name = "isolate.js", esModule = embed "isolate.bundle.js")],
  compatibilityDate = "2026-10-23",
  globalOutbound = "loopback",
  bindings = [(name = "BASE_URL", fromEnvironment = "BASE_URL")],
);
