/**
 * Decides whether the tests of a file are skipped, and prints why.
 *
 * @returns `true` when the tests must be skipped
 * @throws Error instead of skipping when CAMPAIGN_TEST_REQUIRE_SERVICES=1
 */
export function skipsWithout(name: string, missing: string | undefined): boolean {
  if (missing === undefined) return false
  if (process.env.CAMPAIGN_TEST_REQUIRE_SERVICES === '1') {
    throw new Error(`CAMPAIGN_TEST_REQUIRE_SERVICES=1, but there is no ${name} to test with: ${missing}`)
  }
  console.warn(`SKIPPED, the tests against a real ${name}: ${missing}`)
  return true
}
