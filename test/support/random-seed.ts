/**
 * Runs for each test file. With CAMPAIGN_TEST_SEED, property tests are repeatable: the gate derives it from the commit, so
 * each commit is tested with data of its own, and a second run of the same commit with the same data.
 */
const seed = process.env.CAMPAIGN_TEST_SEED
if (seed !== undefined) {
  const { configureGlobal } = await import('fast-check')
  configureGlobal({ seed: Number(seed) | 0 })
}

export {}
