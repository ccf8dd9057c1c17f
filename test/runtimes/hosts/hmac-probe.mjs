// Says which side of `#hmac` the runtime takes. Lies beside the files of the package while the suite runs.
import * as taken from '#hmac'
import * as node from './hmac.node.js'
import * as portable from './hmac.portable.js'

export const build =
  taken.hmacSha256Hex === node.hmacSha256Hex
    ? 'node'
    : taken.hmacSha256Hex === portable.hmacSha256Hex
      ? 'portable'
      : 'neither'
