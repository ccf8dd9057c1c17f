import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** The absolute path of a file in the repository. */
export const pathTo = (file: string): string => fileURLToPath(new URL(`../${file}`, import.meta.url))

/** The text of a file in the repository. */
export const read = (file: string): string => readFileSync(pathTo(file), 'utf8')

/** The text as Biome formats it for that file. */
export function formatted(file: string, text: string): string {
  return execFileSync(pathTo('node_modules/.bin/biome'), ['check', '--write', `--stdin-file-path=${file}`], {
    cwd: pathTo('.'),
    input: text,
    encoding: 'utf8',
  })
}
