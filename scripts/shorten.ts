import { minify } from 'terser'
import ts from 'typescript'

/** Stands for the `#` of a private name while terser works. */
const PRIVATE = '__private__'

/** The source that a part comes from, and what is said to bundlers. */
const KEPT = /^ (?:src|node_modules)\/|(?:webpack|turbopack|vite-?)ignore/i

/** A semicolon that terser writes above a statement that needs none, so that the heading would not begin its line. */
const HEADING_WITHIN = /\n*;(\/\/ (?:src|node_modules)\/\S+\n)(?=[a-z])/g

/** In the order in which short names are given out: the letters that code has most of first, for gzip. */
const LETTERS = 'etnraoiscldupmhfgbvykwxjqzETNRAOISCLDUPMHFGBVYKWXJQZ'

/**
 * Gives out names in one order for all files. By itself terser counts the letters of each file first, so that the two formats of
 * a file, which differ by little, would get different names throughout.
 */
const oneOrder = {
  get: (index: number): string => {
    const before = Math.floor(index / LETTERS.length)
    return (before === 0 ? '' : oneOrder.get(before - 1)) + LETTERS.charAt(index % LETTERS.length)
  },
}

/**
 * Code as it is installed: without indentation, comments, braces around a single statement, and the names of local variables
 * and private fields. What a stack shows stays: the names of functions, classes and their members, a line for each statement, and
 * above each part the file it comes from.
 */
export async function shorten(code: string): Promise<string> {
  const { code: shortened } = await minify(withoutShownPrivateNames(code), {
    module: false,
    toplevel: false,
    // Takes the braces away, for which there is no option of its own.
    compress: { defaults: false, booleans: true, keep_infinity: true },
    mangle: { keep_classnames: true, keep_fnames: true, nth_identifier: oneOrder },
    format: { comments: KEPT, ecma: 2020, preserve_annotations: true, semicolons: false },
  })
  if (shortened === undefined) throw new Error('terser gave no code')
  return shortened.replaceAll(PRIVATE, '#').replace(HEADING_WITHIN, '\n$1')
}

/** terser gives every `#name` a name of one letter and has no option against it; other members keep theirs. */
function withoutShownPrivateNames(code: string): string {
  if (code.includes(PRIVATE)) throw new Error(`the code uses ${PRIVATE} itself`)
  const source = ts.createSourceFile('chunk.js', code, ts.ScriptTarget.ES2022, false, ts.ScriptKind.JS)
  const names: ts.PrivateIdentifier[] = []
  const shown = new Set<string>()
  const visit = (node: ts.Node): void => {
    if (ts.isPrivateIdentifier(node)) names.push(node)
    const named = nameOfFunction(node)
    if (named !== undefined) shown.add(named.getText(source))
    ts.forEachChild(node, visit)
  }
  visit(source)
  return names
    .filter(({ text }) => shown.has(text))
    .map((name) => name.getStart(source))
    .sort((a, b) => b - a)
    .reduce((text, at) => `${text.slice(0, at)}${PRIVATE}${text.slice(at + 1)}`, code)
}

/** The name of a member that is a function, or is given one: V8 calls it by that name. */
function nameOfFunction(node: ts.Node): ts.Node | undefined {
  if (ts.isMethodDeclaration(node) || ts.isAccessor(node)) return node.name
  if (ts.isPropertyDeclaration(node)) return isFunction(node.initializer) ? node.name : undefined
  const isAssignment = ts.isBinaryExpression(node) && ts.isPropertyAccessExpression(node.left)
  return isAssignment && isFunction(node.right) ? node.left.name : undefined
}

const isFunction = (node: ts.Node | undefined): boolean =>
  node !== undefined && (ts.isArrowFunction(node) || ts.isFunctionExpression(node))
