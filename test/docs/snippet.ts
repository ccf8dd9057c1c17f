import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'

/** A TypeScript example of the documentation. */
export interface Snippet {
  /** Where it stands: `docs/tokens.md:12`, the line of its first line of code. */
  readonly at: string
  readonly code: string
  /** Why it is only compiled; `undefined` for one that runs. */
  readonly compiledOnly: string | undefined
  /** What it promises to print, from its `// → …` comments, in order. */
  readonly prints: readonly string[]
}

const ROOT = new URL('../../', import.meta.url)
const FENCE = /^( *)```ts(?: +compile: *(.+))?\n([\s\S]*?)^ *```$/gm
const PROMISE = /\/\/ → (.+)$/gm

/** Every page that holds examples: the README, the guides, and the comments of the client. */
export function documentationSnippets(): Snippet[] {
  const guides = readdirSync(new URL('docs/', ROOT)).filter((name) => name.endsWith('.md'))
  return [
    ...['README.md', ...guides.map((name) => `docs/${name}`)].flatMap((path) => snippetsOf(path, read(path))),
    ...snippetsOf('src/client.ts', withoutStars(read('src/client.ts'))),
  ]
}

export const rootPath = (path: string): string => fileURLToPath(new URL(path, ROOT))

const read = (path: string): string => readFileSync(new URL(path, ROOT), 'utf8')

/** The text of doc comments, line by line where it stood. */
const withoutStars = (source: string): string => source.replace(/^ *\* ?/gm, '')

function snippetsOf(path: string, text: string): Snippet[] {
  return [...text.matchAll(FENCE)].map((match) => {
    const [, indent = '', compiledOnly, body = ''] = match
    const line = text.slice(0, match.index).split('\n').length + 1
    const code = body.replaceAll(new RegExp(`^${indent}`, 'gm'), '')
    return {
      at: `${path}:${line}`,
      code,
      compiledOnly,
      prints: [...code.matchAll(PROMISE)].map(([, text = '']) => text),
    }
  })
}

/** The code as a module: the names it takes for granted are imported, all on the first line. */
export function asModule(code: string, surroundings: string, offered: ReadonlySet<string>): string {
  const names = namesTakenForGranted(code, offered)
  return `${names.length > 0 ? `import { ${names.join(', ')} } from '${surroundings}'; ` : ''}${code}\nexport {}\n`
}

function namesTakenForGranted(code: string, offered: ReadonlySet<string>): string[] {
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
  return [...used].filter((name) => offered.has(name) && !declared.has(name))
}
