import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** Returns the absolute path of a file in the repository. */
export const pathTo = (file: string): string => fileURLToPath(new URL(`../${file}`, import.meta.url))

/** Returns the text of a file in the repository. */
export const read = (file: string): string => readFileSync(pathTo(file), 'utf8')

/** Formats the text of a file with Biome. */
export function formatted(file: string, text: string): string {
  return execFileSync(pathTo('node_modules/.bin/biome'), ['check', '--write', `--stdin-file-path=${file}`], {
    cwd: pathTo('.'),
    input: text,
    encoding: 'utf8',
  })
}
