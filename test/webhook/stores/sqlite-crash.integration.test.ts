import { DatabaseSync } from 'node:sqlite'
import { afterAll, describe } from 'vitest'
import { sqliteFolder } from '../../databases/sqlite.ts'
import { crashContract } from './crash.ts'

describe('sqliteStore when processes die that share a file', () => {
  const folder = sqliteFolder()
  afterAll(() => folder.remove())

  // Each test has its own file: a process that stops inside a transaction blocks all deliveries of its file.
  const newFile = () => {
    const url = folder.file()
    const database = new DatabaseSync(url)
    database.exec('PRAGMA journal_mode = WAL; CREATE TABLE applied (key TEXT NOT NULL)')
    database.close()
    return { url, namespace: '' }
  }
  crashContract('sqlite', newFile, { exactlyOnce: true })
})
