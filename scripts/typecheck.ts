/**
 * Checks the types: `npm run typecheck`.
 *
 * Portable code is compiled twice, with the types of Node and of Workers, so that it uses only the APIs of both. The
 * page of the console is compiled with the types of browsers.
 */
import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'
import { pathTo } from './repository.ts'

/** The type libraries that each project must not include, not even through a dependency. */
const PROJECTS: Readonly<Record<string, RegExp>> = {
  'src/tsconfig.json': /\/(?:@types\/node\/|lib\.dom\.)/,
  'src/tsconfig.node.json': /\/lib\.(?:dom|webworker)\./,
  'src/tsconfig.page.json': /\/(?:@types\/node\/|lib\.webworker\.)/,
  'tsconfig.json': /\/lib\.webworker\./,
}

const [only] = process.argv.slice(2)
process.exitCode = only === undefined ? await checkAll() : check(only)

/** Checks the projects in parallel, one process each. */
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
  if (foreign !== undefined) console.error(`${project}: a dependency includes the types of ${foreign.fileName}`)
  return diagnostics.length > 0 || foreign !== undefined ? 1 : 0
}

function report(diagnostic: ts.Diagnostic): void {
  const host = { getCurrentDirectory: () => pathTo('.'), getCanonicalFileName: String, getNewLine: () => '\n' }
  process.stdout.write(ts.formatDiagnostic(diagnostic, host))
}
