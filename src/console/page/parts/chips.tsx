import { parameter, setParameter } from '../route.ts'
import { amount } from './text.tsx'

export interface Chip<Row> {
  /** Its value in the address; empty for all rows. */
  readonly value: string
  readonly label: string
  readonly fits: (row: Row) => boolean
}

/** The chip that is chosen in the address. */
export const chosenChip = <Row,>(chips: readonly Chip<Row>[]): Chip<Row> | undefined =>
  chips.find(({ value }) => value === parameter('show')) ?? chips[0]

/** Buttons that show a part of a list, each with the number of its rows. A part without rows has no button. */
export function Chips<Row>({ chips, rows }: { chips: readonly Chip<Row>[]; rows: readonly Row[] }) {
  const chosen = chosenChip(chips)
  return (
    <fieldset class="chips" aria-label="Show">
      {chips.map((chip) => {
        const number = rows.filter(chip.fits).length
        if (number === 0 && chip !== chosen) return null
        return (
          <button
            key={chip.value}
            type="button"
            class="chip"
            aria-pressed={chip === chosen}
            onClick={() => setParameter('show', chip.value)}
          >
            {chip.label} <span class="count">{amount(number)}</span>
          </button>
        )
      })}
    </fieldset>
  )
}
