import { minify } from 'terser'
import ts from 'typescript'

/** Stands for the `#` of a private name while terser works. */
const PRIVATE = '__private__'

/** The source that a part comes from, and what is said to bundlers. */
const KEPT = /^ (?:src|node_modules)\/|(?:webpack|turbopack|vite-?)ignore/i

/** A semicolon that terser writes above a statement that needs none, so that the heading would not begin its line. */
const HEADING_WITHIN = /\n*;(\/\/ (?:src|node_modules)\/\S+\n)(?=[a-z])/g

/**
 * Code as it is installed: without indentation, comments and the names of local variables. What a stack shows stays: the
 * names of functions, classes and their members, a line for each statement, and above each part the file it comes from.
 */
export async function shorten(code: string): Promise<string> {
  const { code: shortened } = await minify(withoutPrivateNames(code), {
    module: false,
    toplevel: false,
    compress: false,
    mangle: { keep_classnames: true, keep_fnames: true },
    format: { comments: KEPT, preserve_annotations: true, semicolons: false },
  })
  if (shortened === undefined) throw new Error('terser gave no code')
  return shortened.replaceAll(PRIVATE, '#').replace(HEADING_WITHIN, '\n$1')
}

/** terser gives every `#name` a name of one letter and has no option against it; other members keep theirs. */
function withoutPrivateNames(code: string): string {
  if (code.includes(PRIVATE)) throw new Error(`the code uses ${PRIVATE} itself`)
  const source = ts.createSourceFile('chunk.js', code, ts.ScriptTarget.ES2022, false, ts.ScriptKind.JS)
  const hashes: number[] = []
  const visit = (node: ts.Node): void => {
    if (ts.isPrivateIdentifier(node)) hashes.push(node.getStart(source))
    ts.forEachChild(node, visit)
  }
  visit(source)
  return hashes.sort((a, b) => b - a).reduce((text, at) => `${text.slice(0, at)}${PRIVATE}${text.slice(at + 1)}`, code)
}
