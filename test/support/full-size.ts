/** Whether tests of bulk awards run in full size, as in `.ci/run`. */
export const FULL_SIZE = process.env.CAMPAIGN_TEST_FULL_SIZE === '1'

/** Whether load tests of stores and receiver run in full size, as in `.ci/run`. */
export const FULL_STORM = process.env.CAMPAIGN_TEST_FULL_STORM === '1'
