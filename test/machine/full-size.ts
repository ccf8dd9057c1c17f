/** Whether the proofs run in their full size, as the gate does. */
export const FULL_SIZE = process.env.CAMPAIGN_TEST_FULL_SIZE === '1'

/** Whether the storms at the stores and the receiver are as large as in the gate. */
export const FULL_STORM = process.env.CAMPAIGN_TEST_FULL_STORM === '1'
