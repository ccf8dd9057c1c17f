// Runs the suite in a page of a browser: chromium.mjs calls it.
import { run } from './suite.mjs'

globalThis.runSuite = run
