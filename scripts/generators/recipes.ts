import { readdirSync } from 'node:fs'
import { pathTo, read } from '../repository.ts'
import type { Generator } from './generator.ts'

const FOLDER = 'docs/recipes'
/** ` ```ts compile: it is examples/NAME.ts `: the example goes here, without the comment that says how to run it. */
const PLACE = /^(```ts compile: it is (examples\/\S+))\n[\s\S]*?^```$/gm

/** The recipes, each with the code of its example, which tests run. */
export const recipes: Generator = {
  name: 'recipes',
  generate: () =>
    new Map(
      readdirSync(pathTo(FOLDER)).map((name) => {
        const page = read(`${FOLDER}/${name}`)
        return [
          `${FOLDER}/${name}`,
          page.replaceAll(PLACE, (_, fence: string, example: string) => `${fence}\n${codeOf(example)}\`\`\``),
        ]
      }),
    ),
}

const codeOf = (example: string): string => read(example).replace(/^\/\*\*[\s\S]*?\*\/\n/, '')
