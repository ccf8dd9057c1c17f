import { DatabaseSync } from 'node:sqlite'
import { sqliteStore } from 'campaign-client/webhook/sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { sqliteFolder } from '../../databases/sqlite.ts'
import { compiled } from '../../support/compiled.ts'
import { FULL_SIZE } from '../../support/full-size.ts'
import { crashContract } from './crash.ts'
import { expectHandledOnce, SimulatedCrash, simulateCrashes, sizeOf } from './crash-simulation.ts'
import { StormProcess } from './sqlite-storm-process.ts'

describe('sqliteStore when processes die', () => {
  const folder = sqliteFolder()
  const openFile = (path: string): DatabaseSync => {
    const database = new DatabaseSync(path)
    database.exec('PRAGMA journal_mode = WAL; CREATE TABLE applied (key TEXT NOT NULL)')
    return database
  }
  const path = folder.file()
  let reader: DatabaseSync

  beforeAll(() => {
    reader = openFile(path)
  })
  afterAll(() => {
    reader.close()
    folder.remove()
  })

  /** Returns the number of rows and of different keys that start with `prefix`. */
  const applied = (prefix: string) =>
    reader
      .prepare('SELECT count(*) AS "rows", count(DISTINCT key) AS keys FROM applied WHERE instr(key, ?) = 1')
      .get(prefix)

  describe('that share a file,', () => {
    // Each test has its own file: a process that stops inside a transaction blocks all deliveries of its file.
    const newFile = () => {
      const own = folder.file()
      openFile(own).close()
      return { url: own, namespace: '' }
    }
    crashContract('sqlite', newFile, { exactlyOnce: true })
  })

  test('many deliveries, each in two copies: none is lost, none is handled twice at once, and runOnce applies none twice', async () => {
    const count = sizeOf(5_000)
    const store = sqliteStore(path)
    const report = await simulateCrashes(
      store,
      { count, concurrency: 40, leaseMs: 1000, seed: 3 },
      async (key, crashes) => {
        const { ran } = await store.runOnce(key, (db) => {
          db.prepare('INSERT INTO applied (key) VALUES (?)').run(key)
          if (crashes) throw new SimulatedCrash()
        })
        return ran
      },
    )
    await expectHandledOnce(store, report, count)
    expect(applied('simulation-')).toEqual({ rows: count, keys: count })
    expect([...report.applied.values()].filter((times) => times !== 1)).toEqual([])
    store.close()
  })

  describe('several processes on one file', () => {
    const program = 'test/webhook/stores/sqlite-storm.ts'
    const pathOf = compiled(program)

    test('that are killed at any time lose no delivery, and apply none twice', async () => {
      const count = FULL_SIZE ? 2_000 : 300
      const kills = FULL_SIZE ? 60 : 12
      const task = { path, prefix: 'storm-', count, leaseMs: 300 }
      const processes = Array.from({ length: 4 }, () => new StormProcess(pathOf(program), task))
      for (let kill = 0; kill < kills; kill++) {
        const index = kill % processes.length
        await processes[index]?.progress(1 + (kill % 5))
        await processes[index]?.kill()
        processes[index] = new StormProcess(pathOf(program), task)
      }
      for (const process of processes) expect(await process.ended()).toBe(0)
      expect(applied('storm-')).toEqual({ rows: count, keys: count })
      const store = sqliteStore(path)
      for (let index = 0; index < count; index++) {
        expect(await store.claim(`storm-${index}`, 1)).toEqual({ state: 'done' })
      }
      store.close()
    })
  })
})
