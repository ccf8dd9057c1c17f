import { warnOnce } from '../../../shared/warn-once.ts'

/** Lets so many in at once; the others wait in order. */
export class Gate {
  #free: number
  readonly #onPass: () => void
  readonly #waiting: (() => void)[] = []

  /** @param onPass - called by each who comes */
  constructor(places: number, onPass: () => void = () => {}) {
    this.#free = places
    this.#onPass = onPass
  }

  /** @param work - called when there is a place, which it has until it settles */
  async pass<T>(work: () => Promise<T>): Promise<T> {
    this.#onPass()
    if (this.#free > 0) this.#free -= 1
    else await new Promise<void>((resolve) => this.#waiting.push(resolve))
    try {
      return await work()
    } finally {
      const next = this.#waiting.shift()
      if (next === undefined) this.#free += 1
      else next()
    }
  }
}

const gates = new WeakMap<object, Gate>()

const TOO_FEW =
  'postgresStore: give the pool three connections or more (max). With less, claims, extensions and records wait behind ' +
  'the transactions of runOnce, and a lease may run out meanwhile.'

/**
 * The gate in front of the transactions of a pool: they leave one of its connections to claims, extensions and records.
 * Those would else wait in the pool's line behind whole transactions, and leases run out meanwhile. With less than three
 * connections there is none to spare, and with an unknown number of them nothing to count.
 *
 * @param pool - all stores over the same pool have the same gate
 */
export function transactionGate(pool: object, connections = Infinity): Gate {
  let gate = gates.get(pool)
  if (gate === undefined) {
    gate = connections >= 3 ? new Gate(connections - 1) : new Gate(Infinity, () => warnOnce('small-pool', TOO_FEW))
    gates.set(pool, gate)
  }
  return gate
}
