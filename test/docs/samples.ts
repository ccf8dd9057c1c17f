import { readdirSync } from 'node:fs'
import { pathTo, read } from '../../scripts/repository.ts'

/** A file with consecutive samples of a page. */
export interface SampleFile {
  /** The place of the first sample, such as `docs/tokens.md:12`. */
  readonly at: string
  /** The name in the page (` ```ts file: NAME `), or `undefined`. */
  readonly name: string | undefined
  readonly source: string
  /** The number of its samples. */
  readonly count: number
  /** Why the file is only compiled (` ```ts compile: REASON `), or `undefined`. */
  readonly compiledOnly: string | undefined
  /** The output in its `// → …` comments, in order. */
  readonly prints: readonly string[]
}

/** A sample. `[NAME]` is its tab in a group. */
const FENCE = /^```ts(?: (\[[^\]]+\]))?(?: (file|compile): (.+))?\n([\s\S]*?)^```$/gm
const OUTPUT = /\/\/ → (.+)$/gm

/** README, all guides, recipes and method pages. */
export const pages: readonly string[] = [
  'README.md',
  'SECURITY.md',
  ...readdirSync(pathTo('docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md') && !/^(?:site|reference|examples)\b/.test(name))
    .filter((name) => !['design.md', 'benchmarks.md'].includes(name))
    .map((name) => `docs/${name}`),
]

/** Returns the files of a page. A tab, or a sample that starts with `import`, starts a file; others continue the previous file. */
export function sampleFilesOf(path: string, text = read(path)): SampleFile[] {
  const files: SampleFile[] = []
  for (const { index, 1: tab, 2: kind, 3: word, 4: code = '' } of text.matchAll(FENCE)) {
    const at = `${path}:${text.slice(0, index).split('\n').length + 1}`
    const starts = tab !== undefined || kind !== undefined || code.startsWith('import ')
    const before = starts ? undefined : files.pop()
    const source = before ? `${before.source}\n${code}` : code
    files.push({
      at: before?.at ?? at,
      name: before?.name ?? (kind === 'file' ? word : undefined),
      source,
      count: (before?.count ?? 0) + 1,
      compiledOnly: before?.compiledOnly ?? (kind === 'compile' ? word : undefined),
      prints: [...source.matchAll(OUTPUT)].map(([, printed = '']) => printed),
    })
  }
  return files
}
