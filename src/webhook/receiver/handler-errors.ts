import { CampaignError } from '../../shared/campaign-error.ts'

/**
 * Thrown by a handler whose message can never be handled, so that a retry is useless: the receiver answers 200 and
 * remembers the message as done. Any other error of a handler is answered with 500, and the service retries.
 *
 * Interface: [Delivery and retries](/the-service#delivery-and-retries).
 *
 * @example
 * ```ts
 * if (!knownCampaigns.has(event.payload.campaign.id)) throw new DiscardEvent('unknown campaign')
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

/**
 * Why a handler lost its delivery:
 *
 * - `lease_lost`: another receiver took it over, or the store was unreachable until the lease ran out;
 * - `run_time_exceeded`: the handler ran for `maxRunMs`, or for as long as its Lambda invocation allows;
 * - `receiver_closed`: `close()` was called and its time limit passed.
 */
export type LeaseErrorCode = 'lease_lost' | 'run_time_exceeded' | 'receiver_closed'

/**
 * The `reason` of the signal that a webhook handler gets, and the error that `onError` receives when the signal fires or a
 * delivery was taken over. From then on the same message may be handled elsewhere: stop, and write nothing more.
 */
export class LeaseError extends CampaignError {
  /** @internal */
  static override readonly brand: string = 'LeaseError'

  declare readonly code: LeaseErrorCode

  /** @internal */
  constructor(code: LeaseErrorCode, message: string) {
    super(message, { code })
  }
}
