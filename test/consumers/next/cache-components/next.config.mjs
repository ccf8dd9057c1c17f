import { dirname } from 'node:path'

export default {
  cacheComponents: true,
  partialPrefetching: true,
  experimental: { cpus: 1 },
  // The installed packages and the client are in the parent folder.
  turbopack: { root: dirname(import.meta.dirname) },
}
