// Reports which HMAC the runtime uses. trial.ts copies this file into the package, because `#crypto` resolves only there.
import { hmacSha256Hex } from '#crypto'
import * as node from './crypto.node.js'
import * as portable from './crypto.portable.js'

const modules = Object.entries({ node, portable })
export const hmac = modules.find(([, module]) => module.hmacSha256Hex === hmacSha256Hex)?.[0] ?? 'neither'
