import type { ComponentChildren } from 'preact'
import { parameter, setParameter } from '../route.ts'
import { Empty, Panel } from './panel.tsx'
import { SearchField } from './search-field.tsx'
import { amount } from './text.tsx'

/** A button that shows a part of a list. */
export interface Chip<Row> {
  /** Its value in the address; empty for all rows. */
  readonly value: string
  readonly label: string
  readonly fits: (row: Row) => boolean
}

interface FilteredPanelProps<Row> {
  readonly title: string
  /** Label of the filter. */
  readonly label: string
  readonly rows: readonly Row[]
  /** The text of a row that the filter searches, in lower case. */
  readonly textOf: (row: Row) => string
  /** The first is chosen until the user chooses another. */
  readonly chips: readonly [Chip<Row>, ...Chip<Row>[]]
  /** Says that there are no rows at all. */
  readonly empty: string
  /** How many older rows the service no longer remembers. */
  readonly discarded: number
  /** The table of the rows that fit. */
  readonly children: (rows: readonly Row[]) => ComponentChildren
}

/** A list under its filter, which is kept in the address. */
export function FilteredPanel<Row>({ title, label, rows, textOf, chips, children, ...rest }: FilteredPanelProps<Row>) {
  const find = parameter('find').trim().toLowerCase()
  const found = find === '' ? rows : rows.filter((row) => textOf(row).includes(find))
  const chosen = chips.find(({ value }) => value === parameter('show')) ?? chips[0]
  const shown = found.filter(chosen.fits)
  const filters = (
    <>
      <SearchField label={label} />
      <fieldset class="chips" aria-label="Show">
        {chips.map((chip) => (
          <ChipButton key={chip.value} chip={chip} number={found.filter(chip.fits).length} isChosen={chip === chosen} />
        ))}
      </fieldset>
    </>
  )
  return (
    <Panel title={title} filters={filters}>
      {shown.length > 0 ? children(shown) : <Empty>{rows.length > 0 ? 'Nothing fits the filter.' : rest.empty}</Empty>}
      {rest.discarded > 0 && (
        <p class="more muted">
          Older {title.toLowerCase()} that the service no longer remembers: {amount(rest.discarded)}
        </p>
      )}
    </Panel>
  )
}

interface ChipButtonProps {
  readonly chip: Chip<never>
  readonly number: number
  readonly isChosen: boolean
}

/** A part without rows has no button, unless it is chosen. */
const ChipButton = ({ chip: { value, label }, number, isChosen }: ChipButtonProps) =>
  number === 0 && !isChosen ? null : (
    <button type="button" class="chip" aria-pressed={isChosen} onClick={() => setParameter('show', value)}>
      {label} <span class="count">{amount(number)}</span>
    </button>
  )
