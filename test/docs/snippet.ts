import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'

/** A TypeScript example of the documentation, as a reader can run it. */
export interface Snippet {
  /** Where it stands: `docs/tokens.md:12`, the line of its first line of code. */
  readonly at: string
  /** The module: the lines that its page shows once for all its examples, if it needs them, and the example. */
  readonly source: string
  /** The lines of `source` that come before the example. */
  readonly linesBefore: number
  /** Why it is only compiled; `undefined` for one that runs. */
  readonly compiledOnly: string | undefined
  /** What it promises to print, from its `// → …` comments, in order. */
  readonly prints: readonly string[]
}

const ROOT = new URL('../../', import.meta.url)
/** ` ```ts `, ` ```ts setup ` for what the other examples of the page need, ` ```ts compile: why it can't be run here `. */
const FENCE = /^( *)```ts(?: +(setup)| +compile: *(.+))?\n([\s\S]*?)^ *```$/gm
const PROMISE = /\/\/ → (.+)$/gm

/** Every page that holds examples: the README, the guides, the recipes, the methods, and the comments of the client. */
export function documentationSnippets(): Snippet[] {
  const pages = readdirSync(new URL('docs/', ROOT), { recursive: true, encoding: 'utf8' })
  return [
    ...['README.md', ...pages.filter((name) => name.endsWith('.md')).map((name) => `docs/${name}`)].flatMap((path) =>
      snippetsOf(path, read(path)),
    ),
    ...snippetsOf('src/client.ts', withoutStars(read('src/client.ts'))),
  ]
}

export const rootPath = (path: string): string => fileURLToPath(new URL(path, ROOT))

const read = (path: string): string => readFileSync(new URL(path, ROOT), 'utf8')

/** The text of doc comments, line by line where it stood. */
const withoutStars = (source: string): string => source.replace(/^ *\* ?/gm, '')

function snippetsOf(path: string, text: string): Snippet[] {
  const blocks = [...text.matchAll(FENCE)].map(
    ({ index, 1: indent = '', 2: setup, 3: compiledOnly, 4: body = '' }) => ({
      at: `${path}:${text.slice(0, index).split('\n').length + 1}`,
      isSetup: setup !== undefined,
      compiledOnly,
      code: body.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
    }),
  )
  const [setup, ...others] = blocks.filter(({ isSetup }) => isSetup)
  if (others.length > 0) throw new Error(`${path} has two blocks for all its examples`)
  return blocks.map(({ at, code, isSetup, compiledOnly }) => {
    const before = setup !== undefined && !isSetup && needs(code, setup.code) ? setup.code : ''
    return {
      at,
      source: `${before}${code}\nexport {}\n`,
      linesBefore: before.split('\n').length - 1,
      compiledOnly,
      prints: [...code.matchAll(PROMISE)].map(([, printed = '']) => printed),
    }
  })
}

/** Whether the code uses a name without declaring it that the other code declares. */
function needs(code: string, other: string): boolean {
  const { used, declared } = namesIn(code)
  const offered = namesIn(other).declared
  return [...used].some((name) => offered.has(name) && !declared.has(name))
}

function namesIn(code: string): { used: Set<string>; declared: Set<string> } {
  const source = ts.createSourceFile('snippet.ts', code, ts.ScriptTarget.ES2022, true)
  const used = new Set<string>()
  const declared = new Set<string>()
  const visit = (node: ts.Node): void => {
    if (ts.isIdentifier(node)) {
      const { parent } = node
      const isKey =
        (ts.isPropertyAccessExpression(parent) || ts.isPropertyAssignment(parent) || ts.isPropertySignature(parent)) &&
        parent.name === node
      const isDeclared =
        (ts.isVariableDeclaration(parent) ||
          ts.isBindingElement(parent) ||
          ts.isParameter(parent) ||
          ts.isFunctionDeclaration(parent) ||
          ts.isClassDeclaration(parent) ||
          ts.isInterfaceDeclaration(parent) ||
          ts.isTypeAliasDeclaration(parent) ||
          ts.isImportSpecifier(parent) ||
          ts.isImportClause(parent) ||
          ts.isNamespaceImport(parent)) &&
        parent.name === node
      if (isDeclared) declared.add(node.text)
      else if (!isKey) used.add(node.text)
    }
    ts.forEachChild(node, visit)
  }
  visit(source)
  return { used, declared }
}
