/**
 * Compiles each kind of room with the types it may use: `npm run typecheck`. Portable code is compiled twice, once for Node
 * and once for workers, so that what it uses has to be in both: no `Buffer`, no `document`. It may load a module of Node's,
 * which is judged among its own kind only. The page of the console knows the browser alone. Tests, examples and scripts know Node and the page.
 */
import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'
import { pathTo } from './repository.ts'

/** Each project, and the types that nothing may bring into it: one `reference` in a dependency would do. */
const PROJECTS: Readonly<Record<string, RegExp>> = {
  'src/tsconfig.json': /\/(?:@types\/node\/|lib\.dom\.)/,
  'src/tsconfig.node.json': /\/lib\.(?:dom|webworker)\./,
  'src/tsconfig.page.json': /\/(?:@types\/node\/|lib\.webworker\.)/,
  'tsconfig.json': /\/lib\.webworker\./,
}

const [only] = process.argv.slice(2)
process.exitCode = only === undefined ? await checkAll() : check(only)

/** Each in a process of its own, side by side. */
async function checkAll(): Promise<number> {
  const codes = await Promise.all(
    Object.keys(PROJECTS).map((project) => {
      const args = [...process.execArgv, fileURLToPath(import.meta.url), project]
      const child = spawn(process.execPath, args, { stdio: 'inherit' })
      return new Promise<number>((resolve) => child.on('close', (code) => resolve(code ?? 1)))
    }),
  )
  return Math.max(...codes)
}

function check(project: string): number {
  const config = ts.getParsedCommandLineOfConfigFile(pathTo(project), undefined, {
    ...ts.sys,
    onUnRecoverableConfigFileDiagnostic: report,
  })
  if (config === undefined) return 1
  const options: ts.CompilerOptions = {
    ...config.options,
    incremental: true,
    tsBuildInfoFile: pathTo(`node_modules/.cache/typecheck/${project.replaceAll('/', '-')}.tsbuildinfo`),
  }
  const program = ts.createIncrementalProgram({
    rootNames: config.fileNames,
    options,
    host: ts.createIncrementalCompilerHost(options),
    createProgram: ts.createSemanticDiagnosticsBuilderProgram,
  })
  const own = new Set(config.fileNames)
  const diagnostics = [
    ...config.errors,
    ...program.getOptionsDiagnostics(),
    ...program.getGlobalDiagnostics(),
    ...[...program.getSyntacticDiagnostics(), ...program.getSemanticDiagnostics()].filter(
      ({ file }) => file !== undefined && own.has(file.fileName),
    ),
  ]
  program.emit()
  for (const diagnostic of diagnostics) report(diagnostic)
  const foreign = program.getSourceFiles().find(({ fileName }) => PROJECTS[project]?.test(fileName))
  if (foreign !== undefined) console.error(`${project}: something brings in the types of ${foreign.fileName}`)
  return diagnostics.length > 0 || foreign !== undefined ? 1 : 0
}

function report(diagnostic: ts.Diagnostic): void {
  const where = { getCurrentDirectory: () => pathTo('.'), getCanonicalFileName: String, getNewLine: () => '\n' }
  process.stdout.write(ts.formatDiagnostic(diagnostic, where))
}
