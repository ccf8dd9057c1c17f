import type { CampaignError } from 'campaign-client'

/** Returns the message of an error without the code at its end. */
export function wordsOf(error: unknown): string {
  const { message, code } = error as CampaignError
  const end = ` (${code})`
  if (!message.endsWith(end)) throw new Error(`the message does not end with the code: ${message}`)
  return message.slice(0, -end.length)
}
