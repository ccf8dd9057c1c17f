import ts from 'typescript'
import { pathTo } from '../../scripts/repository.ts'

/** A module in memory and the source of its code. */
export interface VirtualModule {
  readonly path: string
  readonly source: string
  readonly at: string
  /** The number of lines that are elsewhere on the page. */
  readonly linesBefore?: number
}

/** Compiles modules with the project's settings. Returns each error with its place in the documentation. */
export function complaintsOf(modules: readonly VirtualModule[], overrides: ts.CompilerOptions = {}): string[] {
  const config = ts.readConfigFile(pathTo('tsconfig.json'), ts.sys.readFile)
  const parsed = ts.parseJsonConfigFileContent(config.config, ts.sys, pathTo('.'))
  const options = { ...parsed.options, ...overrides }
  const sources = new Map(modules.map((module) => [module.path, module]))
  const host = ts.createCompilerHost(options)
  const { fileExists, readFile, getSourceFile } = host
  // Without it, the compiler reads all folders, also those that exist only in memory.
  delete host.directoryExists
  host.fileExists = (path) => sources.has(path) || fileExists(path)
  host.readFile = (path) => sources.get(path)?.source ?? readFile(path)
  host.getSourceFile = (path, target, ...rest) => {
    const module = sources.get(path)
    return module ? ts.createSourceFile(path, module.source, target) : getSourceFile(path, target, ...rest)
  }
  const program = ts.createProgram([...sources.keys()], options, host)
  return [...sources.values()].flatMap(({ path, at, linesBefore = 0 }) => {
    const file = program.getSourceFile(path)
    const diagnostics = [...program.getSyntacticDiagnostics(file), ...program.getSemanticDiagnostics(file)]
    return diagnostics.map(({ messageText, start = 0 }) => {
      const line = (file?.getLineAndCharacterOfPosition(start).line ?? 0) + Number(at.split(':')[1]) - linesBefore
      return `${at.split(':')[0]}:${line} ${ts.flattenDiagnosticMessageText(messageText, '\n')}`
    })
  })
}
