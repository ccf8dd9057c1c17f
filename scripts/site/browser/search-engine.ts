import { SearchEngine } from '../search/engine.ts'
import type { SearchRecord } from '../search/record.ts'

declare global {
  /** Written by search-records.js. */
  var searchRecords: readonly SearchRecord[]
  var searchEngine: SearchEngine | undefined
}

globalThis.searchEngine = new SearchEngine(searchRecords)
