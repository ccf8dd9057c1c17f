import { accessDenied } from '../http/http-error.ts'
import type { Rule } from './rule.ts'

export const registerWebhook: Rule<'registerWebhook'> = ({ scope, url, secret, hook_id }, { webhooks, grant }) => {
  const known = hook_id === undefined ? undefined : webhooks.find(hook_id)
  if (known && known.organization !== grant.organization) {
    throw accessDenied(`the webhook "${hook_id}" belongs to another organization`)
  }
  const { organization, campaigns } = grant
  const webhook = webhooks.register({ scope, url, secret, hook_id, organization, campaigns })
  return { hook_id: webhook.hook_id }
}
