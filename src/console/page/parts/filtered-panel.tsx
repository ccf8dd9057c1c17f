import type { ComponentChildren } from 'preact'
import { useEffect, useMemo, useState } from 'preact/hooks'
import { perform, run, useAction } from '../actions.ts'
import type { LiveList } from '../live.ts'
import { openItem, parameter, segments, setParameter } from '../route.ts'
import { isFound, OFFERED, parseSearch, replaceUnknown, type Searched } from '../search.ts'
import { ConfirmButton } from './confirm-button.tsx'
import { Empty, Panel } from './panel.tsx'
import { SearchField } from './search-field.tsx'
import { amount, count, Text } from './text.tsx'

/** A button that filters a list: its value in the address, its label, and the rows that it shows. */
export type Chip<Row> = readonly [value: string, label: string, matches: (row: Row) => boolean]

interface FilteredPanelProps<Row> {
  readonly title: string
  /** Name of the list on the server. */
  readonly name: 'requests' | 'deliveries'
  /** Name of one row. */
  readonly noun: string
  /** Label of the filter. */
  readonly label: string
  readonly list: LiveList<Row>
  /** Returns the parts of a row that a search looks at. */
  readonly searched: (row: Row) => Omit<Searched, 'key'>
  readonly chips: readonly Chip<Row>[]
  /** Shown when the list has no rows. */
  readonly empty: string
  /** Renders the rows that match. */
  readonly children: (rows: readonly Row[]) => ComponentChildren
}

/** Returns the value of the previous paint, so that a typed letter appears before the list is filtered. */
function useLater<Value>(value: Value): Value {
  const [later, setLater] = useState(value)
  useEffect(() => setLater(value), [value])
  return later
}

/** A list with filters, which are kept in the address. The row of the open item is always shown. */
export function FilteredPanel<Row extends { readonly key: string }>(props: FilteredPanelProps<Row>) {
  const { title, name, noun, label, list, searched, chips, empty, children } = props
  const find = useLater(parameter('find'))
  const search = useMemo(() => parseSearch(find), [find])
  const { words } = search
  const { value } = useAction('findInBodies', words.length > 0 ? { list: name, words } : undefined, list)
  const inBodies = useMemo(() => new Map(value?.map(({ word, keys }) => [word, new Set(keys)])), [value])
  const found = useMemo(
    () =>
      find === ''
        ? list.rows
        : list.rows.filter((row) => isFound({ key: row.key, ...searched(row) }, search, inBodies)),
    [list, search, inBodies],
  )
  const all: Chip<Row> = ['', 'All', () => true]
  const chosen = chips.find(([value]) => value === parameter('show')) ?? all
  const numbers = useMemo(() => [all, ...chips].map(([, , matches]) => found.filter(matches).length), [found])
  // A search that finds nothing keeps the chips.
  const offered = useMemo(() => [all, ...chips].map(([, , matches]) => list.rows.some(matches)), [list])
  const matching = useMemo(() => new Set(found.filter(chosen[2])), [found, chosen[0]])
  // Only a row that the filter hides changes the list when it is opened.
  const openKey = segments.value.at(-1)
  const hidden = list.rows.find((row) => row.key === openKey && !matching.has(row))
  const shown = useMemo(() => list.rows.filter((row) => matching.has(row) || row === hidden), [list, matching, hidden])
  const compared = openItem.value === undefined && list.rows.find(({ key }) => key === parameter('compare'))
  const filters = (
    <>
      {compared && (
        <p class="callout">
          Choose the {noun} to compare with <strong>{searched(compared).operation}</strong>.{' '}
          <button type="button" class="quiet" onClick={() => setParameter('compare', '')}>
            Cancel
          </button>
        </p>
      )}
      <SearchField label={label} />
      {search.unknown[0] !== undefined && <Unknown find={find} unknown={search.unknown[0]} />}
      <fieldset class="chips" aria-label="Show">
        {[all, ...chips].map(([value, text], index) => {
          const isChosen = value === chosen[0]
          const number = numbers[index] ?? 0
          return !offered[index] && !isChosen ? null : (
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
  const clear = () => {
    const keys = [...matching].map(({ key }) => key)
    return run(
      () => perform('clearRows', { list: name, keys }),
      ({ cleared }) => ({
        text: `${count(cleared, noun)} cleared. Retries that wait and the state stay.`,
        next: { label: 'Undo', onClick: () => run(() => perform('restoreRows', { list: name }), 'The rows are back.') },
      }),
    )
  }
  const isWhole = matching.size === list.rows.length
  return (
    <Panel
      title={title}
      filters={filters}
      tools={
        matching.size > 0 && (
          <ConfirmButton
            label="Clear"
            name={`Clear the ${name}`}
            class="small"
            question={
              isWhole
                ? `Clear all ${amount(matching.size)} rows?`
                : `Clear the ${amount(matching.size)} rows of this filter?`
            }
            yes="Clear"
            no="Keep"
            onConfirm={clear}
          >
            {!isWhole && `The other ${amount(list.rows.length - matching.size)} rows stay. `}
            {name === 'deliveries' && 'Deliveries that wait for an attempt stay. '}
            You can undo this for ten seconds.
          </ConfirmButton>
        )
      }
    >
      {shown.length > 0 ? (
        children(shown)
      ) : (
        <Empty>
          {list.rows.length > 0 ? (
            <>
              No row matches. <ClearSearch />
            </>
          ) : list.cleared > 0 ? (
            `${count(list.cleared, noun)} cleared. New ones appear here.`
          ) : (
            empty
          )}
        </Empty>
      )}
      {list.discarded > 0 && (
        <p class="more muted">
          Older {title.toLowerCase()} that are no longer stored: {amount(list.discarded)}
        </p>
      )}
    </Panel>
  )
}

function ClearSearch() {
  const clear = () => {
    setParameter('find', '')
    setParameter('show', '')
  }
  return (
    <button type="button" class="quiet" onClick={clear}>
      Clear search
    </button>
  )
}

/** Says which part of a search is no field, and offers the fields. */
const Unknown = ({ find, unknown }: { find: string; unknown: string }) => (
  <p class="hint unknown" aria-live="polite">
    <u>
      <Text>{unknown}</Text>
    </u>{' '}
    is no condition, so it is searched as text. Use{' '}
    {OFFERED.map((offered) => (
      <button
        key={offered}
        type="button"
        class="quiet"
        onClick={() => setParameter('find', replaceUnknown(find, unknown, offered))}
      >
        {offered}
      </button>
    ))}{' '}
    or <ClearSearch />
  </p>
)
