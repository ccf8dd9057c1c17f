// One worker is enough for one route, and the build says nothing to anybody.
export default { experimental: { cpus: 1 } }
