import type { ComponentChildren } from 'preact'
import { perform, run } from '../actions.ts'
import type { LiveList } from '../live.ts'
import { parameter, setParameter } from '../route.ts'
import { Empty, Panel } from './panel.tsx'
import { SearchField } from './search-field.tsx'
import { amount } from './text.tsx'

/** A button that filters a list: its value in the address, its label, and the rows that it shows. */
export type Chip<Row> = readonly [value: string, label: string, matches: (row: Row) => boolean]

interface FilteredPanelProps<Row> {
  readonly title: string
  /** Name of the list on the server. */
  readonly name: 'requests' | 'deliveries'
  /** Label of the filter. */
  readonly label: string
  readonly list: LiveList<Row>
  /** Returns the text that the filter searches, in lower case. */
  readonly textOf: (row: Row) => string
  readonly chips: readonly Chip<Row>[]
  /** Shown when the list has no rows. */
  readonly empty: string
  /** Renders the rows that match. */
  readonly children: (rows: readonly Row[]) => ComponentChildren
}

/** A list with filters, which are kept in the address. */
export function FilteredPanel<Row>({
  title,
  name,
  label,
  list,
  textOf,
  chips,
  empty,
  children,
}: FilteredPanelProps<Row>) {
  const find = parameter('find').trim().toLowerCase()
  const found = list.rows.filter((row) => textOf(row).includes(find))
  const all: Chip<Row> = ['', 'All', () => true]
  const chosen = chips.find(([value]) => value === parameter('show')) ?? all
  const shown = found.filter(chosen[2])
  const filters = (
    <>
      <SearchField label={label} />
      <fieldset class="chips" aria-label="Show">
        {[all, ...chips].map(([value, text, matches]) => {
          const isChosen = value === chosen[0]
          const number = found.filter(matches).length
          return number === 0 && !isChosen ? null : (
            <button
              key={value}
              type="button"
              class="chip"
              aria-pressed={isChosen}
              onClick={() => setParameter('show', value)}
            >
              {text} <span class="count">{amount(number)}</span>
            </button>
          )
        })}
      </fieldset>
    </>
  )
  const clear = list.rows.length > 0 && (
    <button
      type="button"
      class="small"
      aria-label={`Clear the ${name}`}
      onClick={() =>
        run(() => perform('emptyList', { list: name }), 'The list was cleared. Retries that wait and the state stay.')
      }
    >
      Clear
    </button>
  )
  return (
    <Panel title={title} filters={filters} tools={clear}>
      {shown.length > 0 ? (
        children(shown)
      ) : (
        <Empty>{list.rows.length > 0 ? 'No row matches the filter.' : empty}</Empty>
      )}
      {list.discarded > 0 && (
        <p class="more muted">
          Older {title.toLowerCase()} that are no longer stored: {amount(list.discarded)}
        </p>
      )}
    </Panel>
  )
}
