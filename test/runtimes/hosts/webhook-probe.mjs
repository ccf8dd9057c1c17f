// Says which build of the webhook entry the runtime takes, from outside the package and from inside. Lies beside the
// files of the package while the suite runs.
import * as outside from 'campaign-client/webhook'
import * as inside from '#webhook'
import * as node from './webhook.js'
import * as portable from './webhook.portable.js'

const nameOf = ({ verifyWebhook }) =>
  verifyWebhook === node.verifyWebhook ? 'node' : verifyWebhook === portable.verifyWebhook ? 'portable' : 'neither'

export const build = nameOf(outside) === nameOf(inside) ? nameOf(inside) : `${nameOf(outside)} and ${nameOf(inside)}`
