import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { mustRun } from '../package/command.ts'
import { HOME } from './catalogue.ts'

interface Lockfile {
  readonly packages: Readonly<Record<string, { readonly integrity?: string }>>
}

/** Installs the packages of the lockfile if they are missing: about 930 MB. */
export async function installRuntimes(): Promise<void> {
  if (isInstalled()) return
  console.log('installing the runtimes …')
  await mustRun('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'], { cwd: HOME })
}

function isInstalled(): boolean {
  const installedLockfile = join(HOME, 'node_modules/.package-lock.json')
  if (!existsSync(installedLockfile)) return false
  const locked = Object.entries(readLockfile(join(HOME, 'package-lock.json')).packages).filter(([path]) => path !== '')
  const { packages } = readLockfile(installedLockfile)
  return locked.every(([path, { integrity }]) => integrity !== undefined && packages[path]?.integrity === integrity)
}

const readLockfile = (file: string): Lockfile => JSON.parse(readFileSync(file, 'utf8')) as Lockfile
