// Says which HMAC the runtime takes. Lies beside the files of the package while the suite runs: only there does the name
// resolve.
import { hmacSha256Hex } from '#hmac'
import * as node from './hmac.node.js'
import * as portable from './hmac.portable.js'

const modules = Object.entries({ node, portable })
export const hmac = modules.find(([, module]) => module.hmacSha256Hex === hmacSha256Hex)?.[0] ?? 'neither'
