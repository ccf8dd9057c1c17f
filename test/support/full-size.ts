/** Whether random tests and load tests run in full size, as before a release. */
export const FULL_SIZE = process.env.CAMPAIGN_TEST_FULL_SIZE === '1'
