import { CommandFailure, EXIT } from '../exit.ts'
import type { ListProblem } from './csv/rows.ts'

/** What `--json` has of them. */
const MOST_KEPT = 1_000

/** What is wrong in a list: all of it is counted, the first thousand are kept. */
export class Problems {
  readonly #kept: ListProblem[] = []
  #count = 0

  get count(): number {
    return this.#count
  }

  add(...problems: readonly ListProblem[]): void {
    this.#count += problems.length
    this.#kept.push(...problems.slice(0, MOST_KEPT - this.#kept.length))
  }

  /** What the command ends with. `details` has each of them in a line. */
  failure(file: string): CommandFailure {
    const problems = [...this.#kept].sort((one, other) => (one.line ?? 0) - (other.line ?? 0))
    const omitted = this.#count - problems.length
    const what = this.#count === 1 ? 'a mistake' : `${this.#count} mistakes`
    return new CommandFailure(
      EXIT.usage,
      'wrong_list',
      `${file} has ${what}. Nothing was sent`,
      undefined,
      { problems, problemsOmitted: omitted },
      [...problems.map(problemText), ...(omitted > 0 ? [`… and ${omitted} more`] : [])],
    )
  }
}

const problemText = ({ line, column, message }: ListProblem): string =>
  line === undefined ? message : `line ${line}${column === undefined ? '' : `, column ${column}`}: ${message}`
