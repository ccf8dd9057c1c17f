import { readdirSync } from 'node:fs'
import { pathTo, read } from '../repository.ts'
import type { Generator } from './generator.ts'

const FOLDERS = ['docs', 'docs/recipes']
/** A copy of an example: ` ```ts compile: it is examples/FILE `, or of some of its declarations or tests: ` … FILE: NAME, NAME `. */
const CODE_BLOCK = /^(```ts compile: it is (examples\/[\w.-]+)(?:: (.+))?)\n[\s\S]*?^```$/gm
/** A copy of an example, and the commands in its first comment: ` ```sh run: examples/FILE `. */
const COMMAND_BLOCK = /^(```sh run: (examples\/\S+))\n[\s\S]*?^```$/gm

/** Writes code and commands of the examples to the guides and recipes. */
export const recipes: Generator = {
  name: 'recipes',
  generate: () => {
    const pages = FOLDERS.flatMap((folder) => readdirSync(pathTo(folder)).map((name) => `${folder}/${name}`))
    return new Map(
      pages.flatMap((page) => {
        const text = page.endsWith('.md') ? read(page) : ''
        if (!/^```\w+ (?:compile: it is|run:) examples\//m.test(text)) return []
        const withCode = text
          .replaceAll(CODE_BLOCK, (_, fence, example, names) => `${fence}\n${codeOf(example, names)}\`\`\``)
          .replaceAll(COMMAND_BLOCK, (_, fence, example) => `${fence}\n${commandsOf(example)}\`\`\``)
        return [[page, withCode]]
      }),
    )
  },
}

/** Returns the code of an example without its first comment, or the declarations and tests with these names. */
function codeOf(example: string, names: string | undefined): string {
  const code = read(example).replace(/^\/\*\*[\s\S]*?\*\/\n/, '')
  if (names === undefined) return code
  const lines = code.split('\n')
  const declarations = rangesIn(lines, names).map(([start, end]) => {
    const indentation = indentationOf(lines[start])
    return lines.slice(start, end).map((line) => `${line.slice(indentation)}\n`)
  })
  return declarations.map((declaration) => declaration.join('')).join('\n')
}

/** Returns the numbers of the lines of an example, from 0, that a sample with these names shows. An empty line separates declarations. */
export function linesOf(code: string, names: string): ReadonlySet<number> {
  const ranges = rangesIn(code.split('\n'), names)
  return new Set(
    ranges.flatMap(([start, end], index) => {
      const last = index === ranges.length - 1 ? end : end + 1
      return Array.from({ length: last - start }, (_, offset) => start + offset)
    }),
  )
}

const rangesIn = (lines: readonly string[], names: string): (readonly [number, number])[] =>
  names.split(', ').map((name) => rangeOf(lines, name) ?? fail(`no example has ${name}`))

/**
 * Returns the first line of a declaration with its comments and decorators, or of the test with this title, and the empty line
 * after it.
 */
function rangeOf(lines: readonly string[], name: string): readonly [number, number] | undefined {
  const declaration = new RegExp(
    `^ *(?:(?:export )?(?:async )?(?:function|class|const|interface) ${name}\\b|test\\('${name}')`,
  )
  const declared = lines.findIndex((line) => declaration.test(line))
  if (declared < 0) return undefined
  const indentation = indentationOf(lines[declared])
  let start = declared
  while (/^ *(?:\/[/*]|\*|@)/.test(lines[start - 1] ?? '')) start -= 1
  let end = declared
  while (end < lines.length && !(lines[end] === '' && indentationOf(lines[end + 1]) <= indentation)) end += 1
  return [start, end]
}

const indentationOf = (line = ''): number => line.search(/\S|$/)

/** Returns a command that copies an example, and the indented lines in its first comment. */
function commandsOf(example: string): string {
  const [comment = ''] = /^\/\*\*[\s\S]*?\*\//.exec(read(example)) ?? []
  const commands = [...comment.matchAll(/^ \* {3}(.+)$/gm)].map(([, line]) => `${line}\n`)
  return [`cp node_modules/campaign-client/${example} .\n`, ...commands].join('')
}

function fail(message: string): never {
  throw new Error(message)
}
