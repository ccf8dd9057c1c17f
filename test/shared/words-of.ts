import type { CampaignError } from 'campaign-client'

/** Returns the message of an error without the docs path at its end. */
export function wordsOf(error: unknown): string {
  const { message, docsPath } = error as CampaignError
  const end = ` (${docsPath})`
  if (!message.endsWith(end)) throw new Error(`the message does not end with the docs path: ${message}`)
  return message.slice(0, -end.length)
}
