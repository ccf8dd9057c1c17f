const CHUNK_BITS = 15
const CHUNK = 1 << CHUNK_BITS

/** Whole numbers by place, in four bytes each: what a list of a million rows can afford. */
export class NumberList {
  readonly #chunks: Uint32Array[] = []
  #length = 0

  get length(): number {
    return this.#length
  }

  push(value: number): void {
    if (this.#length === this.#chunks.length * CHUNK) this.#chunks.push(new Uint32Array(CHUNK))
    this.#length++
    this.set(this.#length - 1, value)
  }

  /** 0 where there is none. */
  at(place: number): number {
    return this.#chunks[place >>> CHUNK_BITS]?.[place & (CHUNK - 1)] ?? 0
  }

  set(place: number, value: number): void {
    const chunk = this.#chunks[place >>> CHUNK_BITS]
    if (chunk !== undefined) chunk[place & (CHUNK - 1)] = value
  }
}
