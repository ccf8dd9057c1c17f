import { runCommand } from '../command.ts'
import { ROOT } from '../packed-package.ts'
import type { PackageCheck } from './finding.ts'

const tool = (title: string, command: string, args: readonly string[]): PackageCheck => ({
  title,
  async run({ tarball }) {
    const { code, output } = await runCommand('npx', ['--no-install', command, tarball, ...args], { cwd: ROOT })
    return { problems: code === 0 ? [] : [output], notes: [] }
  },
})

/** publint checks package.json and the files it names. */
export const publint = tool('publint --strict', 'publint', ['--strict'])

/** attw checks that types and code match under every module resolution of TypeScript, including node10. */
export const attw = tool('attw, every resolution', 'attw', ['--profile', 'strict', '--no-color'])
