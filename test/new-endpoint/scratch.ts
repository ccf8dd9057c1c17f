import { execFileSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { type CommandResult, runCommand } from '../package/command.ts'
import { ROOT } from '../package/packed-package.ts'
import type { Edit } from './edits.ts'

/** A copy of the tree as it stands, that can be edited and checked without touching the original. */
export class Scratch {
  readonly directory: string

  constructor() {
    this.directory = mkdtempSync(join(tmpdir(), 'new-endpoint-'))
    const listed = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], { cwd: ROOT })
    for (const file of listed
      .toString()
      .split('\0')
      .filter((name) => name !== '' && existsSync(join(ROOT, name)))) {
      mkdirSync(dirname(join(this.directory, file)), { recursive: true })
      cpSync(join(ROOT, file), join(this.directory, file))
    }
    // One by one, so that what tools keep in node_modules/.cache is the copy's own.
    mkdirSync(join(this.directory, 'node_modules'))
    for (const name of readdirSync(join(ROOT, 'node_modules'))) {
      if (name.startsWith('.') && name !== '.bin') continue
      symlinkSync(join(ROOT, 'node_modules', name), join(this.directory, 'node_modules', name))
    }
    // The linter reads which files are ignored from here.
    execFileSync('git', ['init', '--quiet'], { cwd: this.directory })
  }

  read(file: string): string {
    return readFileSync(join(this.directory, file), 'utf8')
  }

  apply({ changes }: Edit): void {
    for (const { file, before, text } of changes) {
      if (before === undefined) {
        writeFileSync(join(this.directory, file), text)
        continue
      }
      const old = this.read(file)
      const at = old.lastIndexOf(before)
      if (at < 0) throw new Error(`${file} has no ${JSON.stringify(before)}`)
      writeFileSync(join(this.directory, file), old.slice(0, at) + text + old.slice(at))
    }
  }

  /** Takes an edit back: its files are those of the original again. */
  revoke({ changes }: Edit): void {
    for (const { file, before } of changes) {
      if (before === undefined) rmSync(join(this.directory, file))
      else cpSync(join(ROOT, file), join(this.directory, file))
    }
  }

  run(tool: string, ...args: string[]): Promise<CommandResult> {
    const options = { cwd: this.directory, env: { NODE_OPTIONS: '', CI: '' } }
    return runCommand(join(this.directory, 'node_modules/.bin', tool), args, options)
  }

  remove(): void {
    rmSync(this.directory, { recursive: true, force: true })
  }
}
