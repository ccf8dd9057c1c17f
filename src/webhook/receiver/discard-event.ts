import { CampaignError } from '../../shared/campaign-error.ts'

/**
 * Thrown by a handler to say that this message can never be handled, so that no retry is worth it: the
 * receiver answers 200 and remembers the message as done. Any other error a handler throws is answered with 500, and
 * the service tries again (interface: Events, Delivery and retries).
 *
 * @example
 * ```ts
 * if (!knownCampaigns.has(event.payload.campaign.id)) throw new DiscardEvent('a campaign we left')
 * ```
 */
export class DiscardEvent extends CampaignError {
  /** @internal */
  static override readonly brand: string = 'DiscardEvent'

  /**
   * @param reason - for your own logs; it is not sent to the service
   * @param options - `cause`: the error that led to it
   */
  constructor(reason = 'The handler discarded the message.', options?: { cause?: unknown }) {
    super(reason, { code: 'discard_event', cause: options?.cause })
  }
}
