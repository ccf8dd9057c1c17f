/**
 * Returns whether tests are skipped because something is missing, and prints the reason.
 *
 * @param missing - the reason; `undefined` if nothing is missing
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
