using Workerd = import "/workerd/workerd.capnp";

const config :Workerd.Config = (
  services = [
    (name = "partner", worker = .worker),
    # The worker can connect to loopback only.
    (name = "loopback", network = (allow = ["local"])),
  ],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "partner")],
);

const worker :Workerd.Worker = (
  modules = [(name = "worker.js", esModule = embed "worker.js")],
  compatibilityDate = "2026-10-23",
  globalOutbound = "loopback",
  bindings = [
    (name = "CAMPAIGN_BASE_URL", fromEnvironment = "CAMPAIGN_BASE_URL"),
    (name = "CAMPAIGN_ACCESS_TOKEN", fromEnvironment = "CAMPAIGN_ACCESS_TOKEN"),
    (name = "CAMPAIGN_WEBHOOK_SECRET", fromEnvironment = "CAMPAIGN_WEBHOOK_SECRET"),
  ],
);
