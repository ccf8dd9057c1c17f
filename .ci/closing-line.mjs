// Says in one plain line what these test runs came to together, and fails where one of them ran nothing.
import { readFileSync } from 'node:fs'

const reports = process.argv.slice(2).map((file) => JSON.parse(readFileSync(file, 'utf8')))
const sum = (name) => reports.reduce((total, report) => total + report[name], 0)
console.log(`${sum('numPassedTests')} passed, ${sum('numFailedTests')} failed, ${sum('numPendingTests')} skipped`)
const isGreen = ({ numPassedTests, numFailedTests, success }) => numPassedTests > 0 && numFailedTests === 0 && success
if (reports.length === 0 || !reports.every(isGreen)) process.exit(1)
