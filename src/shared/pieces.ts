/** Of a million pieces of one byte, each takes some 200 bytes of memory. Few answers come in so many. */
const MOST_AS_THEY_CAME = 256

/** Bytes that arrive in pieces, however small, in little more memory than they need. */
export class Pieces<Bytes extends Uint8Array> {
  readonly #join: (pieces: readonly Bytes[]) => Bytes
  readonly #joined: Bytes[] = []
  #asTheyCame: Bytes[] = []

  constructor(join: (pieces: readonly Bytes[]) => Bytes) {
    this.#join = join
  }

  add(piece: Bytes): void {
    if (piece.byteLength === 0) return
    this.#asTheyCame.push(piece)
    if (this.#asTheyCame.length < MOST_AS_THEY_CAME) return
    this.#joined.push(this.#join(this.#asTheyCame))
    this.#asTheyCame = []
  }

  /** All of them in one piece. */
  whole(): Bytes {
    const pieces = [...this.#joined, ...this.#asTheyCame]
    return pieces.length === 1 ? (pieces[0] as Bytes) : this.#join(pieces)
  }
}

/** `Buffer.concat`, for every runtime. */
export function joinBytes(pieces: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(pieces.reduce((length, piece) => length + piece.byteLength, 0))
  let at = 0
  for (const piece of pieces) {
    whole.set(piece, at)
    at += piece.byteLength
  }
  return whole
}
