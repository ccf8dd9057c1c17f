import { type LedgerEnd, readRange } from './read-groups.ts'
import type { LedgerFile, LedgerStorage } from './storage.ts'

/** Moves the torn end (the bytes after the last intact group) to another file. */
export async function moveTornEnd(
  storage: LedgerStorage,
  path: string,
  file: LedgerFile,
  { position }: LedgerEnd,
): Promise<void> {
  const chunks: Buffer[] = []
  for (let at = position; ; ) {
    const chunk = await readRange(file, at, 1 << 20)
    if (chunk.length === 0) break
    chunks.push(chunk)
    at += chunk.length
  }
  if (chunks.length === 0) return
  await storage.create(`${path}.torn-${position}`, Buffer.concat(chunks))
  await file.truncate(position)
}
