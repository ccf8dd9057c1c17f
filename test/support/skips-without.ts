/**
 * Returns whether tests are skipped because something is missing, and prints the reason.
 *
 * @param missing - the reason; `undefined` if nothing is missing
 * @throws Error if something is missing and CAMPAIGN_TEST_REQUIRE_SERVICES=1
 */
export function skipsWithout(name: string, missing: string | undefined): boolean {
  if (missing === undefined) return false
  if (process.env.CAMPAIGN_TEST_REQUIRE_SERVICES === '1') {
    throw new Error(`CAMPAIGN_TEST_REQUIRE_SERVICES=1, but tests need ${name}: ${missing}`)
  }
  return skipsOnThisNode(name, missing)
}

/** Like {@link skipsWithout}, for something that this version of Node.js can never have. */
export function skipsOnThisNode(name: string, missing: string | undefined): boolean {
  if (missing !== undefined) console.warn(`SKIPPED: tests that need ${name}: ${missing}`)
  return missing !== undefined
}
