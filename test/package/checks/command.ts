import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { runCommand } from '../command.ts'
import { withInstalledProject } from '../installed-project.ts'
import type { PackageCheck } from './finding.ts'

/** The size limit of the console's script and style together, gzipped, in bytes. */
const PAGE_LIMIT = 60_000
const HELP_COMMANDS: readonly (readonly string[])[] = [
  ['--help'],
  ['call', '--help'],
  ['types', '--help'],
  ['dev', '--help'],
  ['webhook', 'send', '--help'],
  ['webhook', 'listen', '--help'],
  ['webhook', 'verify', '--help'],
  ['webhook', 'diagnose', '--help'],
]

/** Checks that the installed command runs, and that its page is small. */
export const checkCommand: PackageCheck = {
  title: 'the command runs, and its page is small',
  async run(packed) {
    const [bin] = Object.values(packed.manifest.bin)
    if (bin === undefined || !existsSync(join(packed.directory, bin))) {
      return { problems: ['package.json names no command that is in the tarball'], notes: [] }
    }
    const problems: string[] = []
    if (!readFileSync(join(packed.directory, bin), 'utf8').startsWith('#!/usr/bin/env node\n')) {
      problems.push(`${bin} has no #! line`)
    }
    const notes = await withInstalledProject(packed, async (project) => {
      const command = join(project, 'node_modules', packed.manifest.name, bin)
      for (const args of HELP_COMMANDS) {
        const { code, stdout, output } = await runCommand(process.execPath, [command, ...args], { cwd: project })
        if (code !== 0 || !stdout.startsWith('Usage:')) problems.push(`${args.join(' ')} failed:\n${output}`)
      }
      const version = await runCommand(process.execPath, [command, '--version'], { cwd: project })
      if (version.stdout.trim() !== packed.manifest.version) problems.push(`--version prints ${version.output}`)
      return measurePage(project, command, problems)
    })
    return { problems, notes }
  },
}

/** Requests the page from the running console. */
async function measurePage(project: string, command: string, problems: string[]): Promise<string[]> {
  const probe = `
    import { spawn } from 'node:child_process'
    const child = spawn(process.execPath, [${JSON.stringify(command)}, 'dev', '--port', '0'])
    let output = ''
    child.stdout.setEncoding('utf8').on('data', async (text) => {
      output += text
      if (!output.includes('\\n')) return
      const url = output.trim()
      const parts = await Promise.all(['console/page.js', 'console/page.css'].map(async (file) => (await fetch(url + file)).text()))
      console.log(JSON.stringify(parts))
      child.kill()
    })`
  const { code, stdout, output } = await runCommand(process.execPath, ['--input-type=module', '-e', probe], {
    cwd: project,
    timeoutMs: 60_000,
  })
  if (code !== 0) {
    problems.push(`the console does not serve its page:\n${output}`)
    return []
  }
  const bytes = (JSON.parse(stdout) as string[]).reduce((sum, text) => sum + gzipSync(text, { level: 9 }).length, 0)
  const line = `page of the console, gzipped: ${(bytes / 1000).toFixed(1)} kB of ${PAGE_LIMIT / 1000} kB`
  if (bytes <= PAGE_LIMIT) return [line]
  problems.push(`${line}: too large`)
  return []
}
