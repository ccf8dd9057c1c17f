// One worker is enough for one route.
export default { experimental: { cpus: 1 } }
