/**
 * Decides between running and skipping, once per test file, and never silently.
 *
 * @returns `true` when the tests must be skipped, after printing why
 * @throws Error when a service is missing and CAMPAIGN_TEST_REQUIRE_SERVICES=1 asks for all of them
 */
export function skipsWithout(name: string, missing: string | undefined): boolean {
  if (missing === undefined) return false
  if (process.env.CAMPAIGN_TEST_REQUIRE_SERVICES === '1') {
    throw new Error(`CAMPAIGN_TEST_REQUIRE_SERVICES=1, but there is no ${name} to test with: ${missing}`)
  }
  console.warn(`SKIPPED, the tests against a real ${name}: ${missing}`)
  return true
}
