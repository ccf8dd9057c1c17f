import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import ts from 'typescript'
import { type ExportTarget, type PackedPackage, ROOT } from '../packed-package.ts'
import type { PackageCheck } from './finding.ts'

const REPORTS = 'test/package/api'
const FORMATS = ['import', 'require'] as const

interface EntryPoint {
  /** The key in `exports` of package.json, such as `./webhook`. */
  readonly path: string
  /** The file name of the report. */
  readonly report: string
  readonly targets: Readonly<Record<'import' | 'require', ExportTarget>>
}

/**
 * Compares the public API in the declarations with the recorded API, so that every change is visible in a diff. The
 * declarations must also compile without ambient types, be equal in both formats, and declare exactly the values that
 * the code exports.
 */
export const checkApiReport: PackageCheck = {
  title: 'public API: as recorded, equal in both formats, and exported by the code',
  async run(packed) {
    const entries = entryPoints(packed)
    const problems: string[] = []
    const surfaces = FORMATS.map((format) => new Surface(packed, entries, format))
    for (const surface of surfaces) problems.push(...surface.diagnostics())
    const known = new Set(entries.map(({ report }) => report))
    for (const report of readdirSync(join(ROOT, REPORTS)).filter((name) => !known.has(name))) {
      problems.push(`${REPORTS}/${report} belongs to an entry point that no longer exists`)
    }
    for (const entry of entries) {
      const [esm, cjs] = surfaces.map((surface) => surface.render(entry)) as [string, string]
      if (esm !== cjs) problems.push(`${entry.path}: import and require have different declarations`)
      const file = join(ROOT, REPORTS, entry.report)
      const recorded = existsSync(file) ? readFileSync(file, 'utf8') : ''
      if (recorded !== esm) {
        problems.push(
          `${entry.path}: the public API differs from ${REPORTS}/${entry.report}. If you changed it on purpose, run ` +
            `npm run generate and commit the file:\n${difference(recorded, esm)}`,
        )
      }
      for (const [index, format] of FORMATS.entries()) {
        const declared = (surfaces[index] as Surface).values(entry)
        const code = entry.targets[format].default
        const actual = await valuesOf(join(packed.directory, code), format)
        problems.push(
          ...declared
            .filter((name) => !actual.includes(name))
            .map((name) => `${entry.path}: ${name} is declared as a value, but ${code} does not export it`),
          ...actual
            .filter((name) => !declared.includes(name))
            .map((name) => `${entry.path}: ${name} is exported by ${code}, but not declared`),
        )
      }
    }
    return { problems, notes: [] }
  },
}

/** Returns the text of each report by its path. */
export function apiReports(packed: PackedPackage): Map<string, string> {
  const entries = entryPoints(packed)
  const surface = new Surface(packed, entries, 'import')
  return new Map(entries.map((entry) => [`${REPORTS}/${entry.report}`, surface.render(entry)]))
}

function entryPoints({ manifest }: PackedPackage): EntryPoint[] {
  const entries: EntryPoint[] = []
  for (const [path, targets] of Object.entries(manifest.exports)) {
    if (typeof targets === 'string') continue
    const report = `${path === '.' ? 'index' : path.slice(2).replaceAll('/', '-')}.txt`
    entries.push({ path, report, targets })
  }
  // The root re-exports declarations of other entry points. It comes last and refers to them.
  return entries.sort((a, b) => Number(a.path === '.') - Number(b.path === '.'))
}

async function valuesOf(file: string, format: (typeof FORMATS)[number]): Promise<string[]> {
  const module: unknown =
    format === 'import' ? await import(pathToFileURL(file).href) : createRequire(import.meta.url)(file)
  return Object.keys(module as object).sort()
}

/** Returns the removed and the added lines. */
function difference(before: string, after: string): string {
  const [old, now] = [before.split('\n'), after.split('\n')]
  const removed = old.filter((line) => !now.includes(line)).map((line) => `- ${line}`)
  const added = now.filter((line) => !old.includes(line)).map((line) => `+ ${line}`)
  return [...removed, ...added].slice(0, 60).join('\n')
}

/** The declarations of all entry points in one format. */
class Surface {
  readonly #program: ts.Program
  readonly #checker: ts.TypeChecker
  readonly #directory: string
  readonly #files: ReadonlyMap<EntryPoint, string>
  /** The entry point whose report has the declaration. Other reports refer to it. */
  readonly #owners = new Map<ts.Symbol, EntryPoint>()
  readonly #printer = ts.createPrinter({ removeComments: true, newLine: ts.NewLineKind.LineFeed })

  constructor(packed: PackedPackage, entries: readonly EntryPoint[], format: (typeof FORMATS)[number]) {
    this.#directory = packed.directory
    this.#files = new Map(entries.map((entry) => [entry, join(packed.directory, entry.targets[format].types)]))
    this.#program = ts.createProgram([...this.#files.values()], {
      module: ts.ModuleKind.NodeNext,
      moduleResolution: ts.ModuleResolutionKind.NodeNext,
      target: ts.ScriptTarget.ES2022,
      lib: ['lib.es2022.d.ts', 'lib.dom.d.ts', 'lib.dom.iterable.d.ts'],
      strict: true,
      exactOptionalPropertyTypes: true,
      noEmit: true,
      types: [],
    })
    this.#checker = this.#program.getTypeChecker()
    for (const entry of entries) {
      for (const symbol of this.#exports(entry)) {
        const target = this.#resolve(symbol)
        if (!this.#owners.has(target)) this.#owners.set(target, entry)
      }
    }
  }

  /** Returns the errors that a partner with `skipLibCheck: false` would get. */
  diagnostics(): string[] {
    return this.#program
      .getSourceFiles()
      .filter((file) => file.fileName.startsWith(this.#directory))
      .flatMap((file) => [
        ...this.#program.getSyntacticDiagnostics(file),
        ...this.#program.getSemanticDiagnostics(file),
      ])
      .map((diagnostic) => {
        const at = diagnostic.file?.fileName.slice(this.#directory.length + 1)
        return `${at}: ${ts.flattenDiagnosticMessageText(diagnostic.messageText, '\n')}`
      })
  }

  /** Returns the sorted names of exported values. */
  values(entry: EntryPoint): string[] {
    return this.#exports(entry)
      .filter((symbol) => (this.#resolve(symbol).flags & ts.SymbolFlags.Value) !== 0 && !isTypeOnly(symbol))
      .map((symbol) => symbol.name)
      .sort()
  }

  render(entry: EntryPoint): string {
    const name = entry.path === '.' ? 'campaign-client' : `campaign-client${entry.path.slice(1)}`
    const own: string[] = []
    const reexported: string[] = []
    const hidden = new Map<string, string>()
    for (const symbol of this.#exports(entry)) {
      const target = this.#resolve(symbol)
      const owner = this.#owners.get(target)
      if (owner !== entry && owner !== undefined) {
        reexported.push(`${symbol.name}  (from campaign-client${owner.path.slice(1)})`)
        continue
      }
      own.push(this.#print(target, symbol.name))
      this.#collectHidden(target, hidden)
    }
    const unexported = [...hidden].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, text]) => text)
    const sections = [
      `# ${name}`,
      ...own,
      ...(reexported.length > 0 ? ['# re-exported', reexported.join('\n')] : []),
      ...(unexported.length > 0 ? ['# used above, but not exported', ...unexported] : []),
    ]
    return `${sections.join('\n\n')}\n`
  }

  #exports(entry: EntryPoint): ts.Symbol[] {
    const file = this.#program.getSourceFile(this.#files.get(entry) as string)
    const module = file && this.#checker.getSymbolAtLocation(file)
    if (module === undefined) throw new Error(`${entry.path} has no declarations`)
    return this.#checker.getExportsOfModule(module).sort((a, b) => (a.name < b.name ? -1 : 1))
  }

  #resolve(symbol: ts.Symbol): ts.Symbol {
    return symbol.flags & ts.SymbolFlags.Alias ? this.#checker.getAliasedSymbol(symbol) : symbol
  }

  #print(symbol: ts.Symbol, name: string): string {
    return (symbol.declarations ?? [])
      .map((declaration) => {
        const node = ts.isVariableDeclaration(declaration) ? declaration.parent.parent : declaration
        const text = this.#printer.printNode(ts.EmitHint.Unspecified, node, declaration.getSourceFile())
        const plain = text.replace(/^(?:export |declare )+/, '')
        return symbol.name === name ? plain : `${name} = ${plain}`
      })
      .join('\n')
  }

  /** Collects types that a declaration uses, but that no entry point exports. */
  #collectHidden(symbol: ts.Symbol, found: Map<string, string>): void {
    const visit = (node: ts.Node): void => {
      if (ts.isIdentifier(node)) {
        const used = this.#checker.getSymbolAtLocation(node)
        const target = used && this.#resolve(used)
        if (target !== undefined && this.#isHidden(target) && !found.has(target.name)) {
          found.set(target.name, this.#print(target, target.name))
          this.#collectHidden(target, found)
        }
      }
      ts.forEachChild(node, visit)
    }
    for (const declaration of symbol.declarations ?? []) visit(declaration)
  }

  #isHidden(symbol: ts.Symbol): boolean {
    const [declaration] = symbol.declarations ?? []
    if (declaration === undefined || this.#owners.has(symbol)) return false
    const statement = ts.isVariableDeclaration(declaration) ? declaration.parent.parent : declaration
    const file = declaration.getSourceFile()
    return (
      statement.parent !== undefined && ts.isSourceFile(statement.parent) && file.fileName.startsWith(this.#directory)
    )
  }
}

const isTypeOnly = (symbol: ts.Symbol): boolean =>
  (symbol.declarations ?? []).some(
    (declaration) =>
      ts.isExportSpecifier(declaration) && (declaration.isTypeOnly || declaration.parent.parent.isTypeOnly),
  )
