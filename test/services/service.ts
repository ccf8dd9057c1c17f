/** A real service for tests: started by the test itself, or running already at an address from the environment. */
export interface Service {
  /** Credentials included. */
  readonly url: string
  stop(): Promise<void>
}

/** A service that belongs to one test, which may kill it. */
export interface PrivateService extends Service {
  /** Ends it the hard way, as a crash of its machine would. */
  kill(): Promise<void>
  /** Starts it again at the same address. */
  restart(): Promise<void>
}

/** Whether and how tests can have a service. */
export interface ServiceSource {
  readonly name: string
  /** Why tests of this service are skipped; `undefined` when there is one. */
  readonly missing: string | undefined
  /** Why tests that kill the service are skipped: those need the program itself, an address is not enough. */
  readonly missingPrivate: string | undefined
  /** The service at the address from the environment, or one of our own. */
  start(): Promise<Service>
  startPrivate(): Promise<PrivateService>
}

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
