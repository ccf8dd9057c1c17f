import { readdirSync } from 'node:fs'
import { pathTo, read } from '../repository.ts'
import type { Generator } from './generator.ts'

const FOLDER = 'docs/recipes'
/** Matches a copy of an example: a code block that begins with ` ```ts compile: it is examples/NAME.ts `. */
const EXAMPLE_BLOCK = /^(```ts compile: it is (examples\/\S+))\n[\s\S]*?^```$/gm

/** Writes the code of the examples to the recipes. */
export const recipes: Generator = {
  name: 'recipes',
  generate: () =>
    new Map(
      readdirSync(pathTo(FOLDER)).map((name) => {
        const page = read(`${FOLDER}/${name}`)
        return [
          `${FOLDER}/${name}`,
          page.replaceAll(EXAMPLE_BLOCK, (_, fence: string, example: string) => `${fence}\n${codeOf(example)}\`\`\``),
        ]
      }),
    ),
}

/** Returns the code of an example without its first comment, which explains how to run it. */
const codeOf = (example: string): string => read(example).replace(/^\/\*\*[\s\S]*?\*\/\n/, '')
