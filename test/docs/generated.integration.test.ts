import { existsSync } from 'node:fs'
import { expect, test } from 'vitest'
import { generators } from '../../scripts/generators/index.ts'
import { pathTo, read } from '../../scripts/repository.ts'

test.each(generators)('the files of the generator $name are up to date (npm run generate)', async (generator) => {
  const files = await generator.generate()
  expect(files.size).toBeGreaterThan(0)
  for (const [file, text] of files) expect(existsSync(pathTo(file)) ? read(file) : undefined, file).toBe(text)
})
