import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { mustRun } from '../package/command.ts'
import { RUNTIMES_FOLDER } from './runtimes.ts'

interface Lockfile {
  readonly packages: Readonly<Record<string, { readonly integrity?: string }>>
}

/** Installs the packages of the lockfile if they are missing: about 930 MB. */
export async function installRuntimes(): Promise<void> {
  if (isInstalled()) return
  console.log('installing the runtimes …')
  await mustRun('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: RUNTIMES_FOLDER,
  })
}

function isInstalled(): boolean {
  const installedLockfile = join(RUNTIMES_FOLDER, 'node_modules/.package-lock.json')
  if (!existsSync(installedLockfile)) return false
  const locked = Object.entries(readLockfile(join(RUNTIMES_FOLDER, 'package-lock.json')).packages).filter(
    ([path]) => path !== '',
  )
  const { packages } = readLockfile(installedLockfile)
  return locked.every(([path, { integrity }]) => integrity !== undefined && packages[path]?.integrity === integrity)
}

const readLockfile = (file: string): Lockfile => JSON.parse(readFileSync(file, 'utf8')) as Lockfile
