// Says in one plain line what the test run came to, and fails where it ran nothing.
import { readFileSync } from 'node:fs'

const report = JSON.parse(readFileSync(process.argv[2], 'utf8'))
const { numPassedTests: passed, numFailedTests: failed, numPendingTests: skipped } = report
console.log(`${passed} passed, ${failed} failed, ${skipped} skipped`)
if (passed === 0 || failed > 0 || !report.success) process.exit(1)
