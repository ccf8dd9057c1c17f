/** How long nothing is said of a topic after it was warned of. */
const QUIET_MS = 60_000

/** Warnings for those who gave no hook: of each topic one a minute, however often there is reason. */
export class OccasionalWarnings {
  readonly #topics = new Map<string, { warnedAt: number; unsaid: number }>()

  /**
   * @param topic - one of a few; never made of what a stranger sent
   * @param words - what `console.warn` is given
   */
  tell(topic: string, words: () => unknown[]): void {
    const last = this.#topics.get(topic)
    const now = performance.now()
    if (last !== undefined && now < last.warnedAt + QUIET_MS) {
      last.unsaid += 1
      return
    }
    this.#topics.set(topic, { warnedAt: now, unsaid: 0 })
    const before = last?.unsaid ?? 0
    console.warn(...words(), ...(before > 0 ? [`(and ${before} more since the last warning of this kind)`] : []))
  }
}
