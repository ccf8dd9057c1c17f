import type { CampaignError } from 'campaign-client'

/** The words of an error, without the place in the documentation that its message has to end with. */
export function wordsOf(error: unknown): string {
  const { message, docsPath } = error as CampaignError
  const end = ` (${docsPath})`
  if (!message.endsWith(end)) throw new Error(`the message does not end with the place that says more: ${message}`)
  return message.slice(0, -end.length)
}
