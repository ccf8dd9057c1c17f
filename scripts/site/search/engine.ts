import MiniSearch from 'minisearch'
import type { SearchRecord } from './record.ts'
import { SYNONYMS } from './synonyms.ts'

/** A page that was found, with the sections of it that fit best. */
export interface Hit {
  readonly page: SearchRecord
  readonly sections: readonly SearchRecord[]
}

const PAGES_SHOWN = 12
const SECTIONS_SHOWN = 2
/** Against what holds all the words as they were typed. */
const SOME_OF_THE_WORDS = 0.25
/** Just below the best that was found by the words themselves. */
const WHAT_IS_MEANT = 0.98

/** Finds pages by words: those with all of them first, guides before types, a name that is typed before everything. */
export class SearchEngine {
  readonly #index: MiniSearch
  readonly #records: readonly SearchRecord[]
  readonly #firstOf = new Map<string, SearchRecord>()

  constructor(records: readonly SearchRecord[]) {
    this.#records = records
    this.#index = new MiniSearch({
      fields: ['title', 'heading', 'text'],
      tokenize: words,
      processTerm: stem,
      searchOptions: {
        boost: { title: 5, heading: 3 },
        prefix: (term) => term.length > 2,
        fuzzy: (term) => (term.length > 5 ? 0.2 : false),
        weights: { prefix: 0.3, fuzzy: 0.1 },
        boostDocument: (id) => records[id as number]?.weight ?? 1,
      },
    })
    this.#index.addAll(records.map(({ title, heading, text }, id) => ({ id, title, heading, text })))
    for (const record of records) {
      const page = pageOf(record)
      if (!this.#firstOf.has(page)) this.#firstOf.set(page, record)
    }
  }

  find(typed: string): readonly Hit[] {
    const scores = new Map<number, number>()
    const add = (query: string, combineWith: 'AND' | 'OR', weight: number): void => {
      for (const { id, score } of this.#index.search(query, { combineWith })) {
        scores.set(id, (scores.get(id) ?? 0) + score * weight)
      }
    }
    add(typed, 'AND', 1)
    add(typed, 'OR', SOME_OF_THE_WORDS)
    const best = Math.max(1, ...scores.values())
    for (const [pattern, title] of SYNONYMS) {
      const id = this.#records.findIndex((record) => record.title === title)
      if (id === -1 || !pattern.test(typed.toLowerCase())) continue
      scores.set(id, Math.max(scores.get(id) ?? 0, best * WHAT_IS_MEANT))
    }
    return this.#byPage(scores, typed.trim().toLowerCase())
  }

  #byPage(scores: ReadonlyMap<number, number>, typed: string): Hit[] {
    const pages = new Map<string, { score: number; sections: { score: number; record: SearchRecord }[] }>()
    for (const [id, score] of scores) {
      const record = this.#records[id]
      if (record === undefined) continue
      const page = pages.get(pageOf(record)) ?? { score: 0, sections: [] }
      page.score = Math.max(page.score, record.title.toLowerCase() === typed ? score * 10 : score)
      if (record.heading !== '') page.sections.push({ score, record })
      pages.set(pageOf(record), page)
    }
    return [...pages]
      .sort(([, one], [, other]) => other.score - one.score)
      .slice(0, PAGES_SHOWN)
      .flatMap(([url, { sections }]) => {
        const page = this.#firstOf.get(url)
        const best = sections.sort((one, other) => other.score - one.score).slice(0, SECTIONS_SHOWN)
        return page === undefined ? [] : [{ page, sections: best.map(({ record }) => record) }]
      })
  }
}

const pageOf = ({ url }: SearchRecord): string => url.replace(/#.*/, '')

/** Words, and of a name like `rewardWallet` its parts as well. */
function words(text: string): string[] {
  return (text.match(/[\p{L}\p{N}_]+/gu) ?? []).flatMap((word) => {
    const parts = word.split(/_|(?<=[a-z])(?=[A-Z])/)
    return parts.length > 1 ? [word, ...parts] : [word]
  })
}

const COMMON = new Set(
  'a an and are as at be by do does for from how i if in is it my of on or that the this to what when where why with'.split(
    ' ',
  ),
)

/** So that "retries" finds "retry". */
function stem(term: string): string | null {
  const word = term.toLowerCase()
  if (COMMON.has(word) || word === '') return null
  return word.replace(/(?<=\w{2})ies$/, 'y').replace(/(?<=\w{3})(?<!s|u|i)s$/, '')
}
