import ts from 'typescript'
import { pathTo } from '../../scripts/repository.ts'

/** A module in memory and the source of its code. */
export interface VirtualModule {
  readonly path: string
  readonly source: string
  /** The place of the first line, such as `docs/tokens.md:12`. */
  readonly at: string
}

/** Compiles modules with the project's settings. Returns each error with its place in the documentation. */
export function compileErrorsOf(modules: readonly VirtualModule[], overrides: ts.CompilerOptions = {}): string[] {
  const config = ts.readConfigFile(pathTo('tsconfig.json'), ts.sys.readFile)
  const parsed = ts.parseJsonConfigFileContent(config.config, ts.sys, pathTo('.'))
  const options = { ...parsed.options, ...overrides }
  const sources = new Map(modules.map((module) => [module.path, module]))
  const host = ts.createCompilerHost(options)
  const { fileExists, readFile, getSourceFile } = host
  // Without `directoryExists`, the compiler also looks in folders that exist only in memory.
  delete host.directoryExists
  host.fileExists = (path) => sources.has(path) || fileExists(path)
  host.readFile = (path) => sources.get(path)?.source ?? readFile(path)
  host.getSourceFile = (path, target, ...rest) => {
    const module = sources.get(path)
    return module ? ts.createSourceFile(path, module.source, target) : getSourceFile(path, target, ...rest)
  }
  const program = ts.createProgram([...sources.keys()], options, host)
  return [...sources.values()].flatMap(({ path, at }) => {
    const file = program.getSourceFile(path)
    const diagnostics = [...program.getSyntacticDiagnostics(file), ...program.getSemanticDiagnostics(file)]
    return diagnostics.map(({ messageText, start = 0 }) => {
      const line = (file?.getLineAndCharacterOfPosition(start).line ?? 0) + Number(at.split(':')[1])
      return `${at.split(':')[0]}:${line} ${ts.flattenDiagnosticMessageText(messageText, '\n')}`
    })
  })
}
