// Reports which HMAC the runtime uses. trial.ts copies this file into the package, because `#hmac` resolves only there.
import { hmacSha256Hex } from '#hmac'
import * as node from './hmac.node.js'
import * as portable from './hmac.portable.js'

const modules = Object.entries({ node, portable })
export const hmac = modules.find(([, module]) => module.hmacSha256Hex === hmacSha256Hex)?.[0] ?? 'neither'
