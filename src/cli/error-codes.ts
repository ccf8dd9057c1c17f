import type { CampaignErrorCode } from 'campaign-client'

/** The compiler reports a missing or unknown code. */
const CODES: Readonly<Record<CampaignErrorCode, true>> = {
  api_error: true,
  bad_request: true,
  unauthorized: true,
  access_denied: true,
  rate_limited: true,
  service_error: true,
  referral_rejected: true,
  network: true,
  timeout: true,
  unexpected_response: true,
  invalid_request: true,
  access_token: true,
  configuration: true,
  award_run_stopped: true,
  award_unsettled: true,
  missing_signature: true,
  malformed_signature: true,
  signature_mismatch: true,
  body_not_raw: true,
  invalid_utf8: true,
  invalid_json: true,
  missing_id: true,
  unexpected_shape: true,
  discard_event: true,
  lease_lost: true,
  run_time_exceeded: true,
  receiver_closed: true,
}

/** The codes of the package's errors. */
export const ERROR_CODES: ReadonlySet<string> = new Set(Object.keys(CODES))
