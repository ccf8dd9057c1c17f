import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** Where a file of the repository is. */
export const pathTo = (file: string): string => fileURLToPath(new URL(`../${file}`, import.meta.url))

/** The text of a file of the repository. */
export const read = (file: string): string => readFileSync(pathTo(file), 'utf8')

/** The text as formatter and import order of the project would leave it in that file. */
export function formatted(file: string, text: string): string {
  return execFileSync(pathTo('node_modules/.bin/biome'), ['check', '--write', `--stdin-file-path=${file}`], {
    cwd: pathTo('.'),
    input: text,
    encoding: 'utf8',
  })
}
