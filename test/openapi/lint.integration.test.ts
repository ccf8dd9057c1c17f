import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import { skipsWithout } from '../support/skips-without.ts'
import { documentPath, missingTools, redocly } from './tools.ts'

describe.skipIf(skipsWithout('OpenAPI tools', missingTools))('the linter', () => {
  test('finds no errors or warnings in the document', async () => {
    const { stdout } = await promisify(execFile)(redocly, ['lint', '--format=json', documentPath], {
      env: { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' },
    })
    const { totals, problems } = JSON.parse(stdout)
    expect(problems).toEqual([])
    expect(totals).toMatchObject({ errors: 0, warnings: 0 })
  })
})
