import { useEffect, useMemo, useState } from 'preact/hooks'
import type { ActionResult } from '../../protocol.ts'
import { perform, run, useAction } from '../actions.ts'
import type { LiveList } from '../live.ts'
import { openItem, parameter, segments, setParameter } from '../route.ts'
import { isFound, OFFERED, parseSearch, replaceUnknown, type Searched } from '../search.ts'
import { ask, Button } from './controls.tsx'
import { Empty, Facts, Panel } from './panel.tsx'
import { Rows, type RowsProps } from './rows.tsx'
import { amount, count, safe } from './text.tsx'

/** A button that filters a list: its value in the address, its label, and the rows that it shows. */
export type Chip<Row> = readonly [value: string, label: string, matches: (row: Row) => boolean]

interface FilteredListProps<Row> extends Pick<RowsProps<Row>, 'linkTo' | 'view' | 'headings'> {
  /** Name of the list, and of one row. */
  readonly name: 'requests' | 'deliveries'
  readonly noun: string
  readonly list: LiveList<Row>
  /** Returns the parts of a row that a search looks at. */
  readonly searched: (row: Row) => Omit<Searched, 'key'>
  readonly chips: readonly Chip<Row>[]
  /** Changes the order of the rows. */
  readonly arrange?: (rows: readonly Row[]) => readonly Row[]
  /** Shown before the first row. */
  readonly empty: string
}

/** Returns the value of the previous paint, so that a typed letter appears before the list is filtered. */
function useLater<Value>(value: Value): Value {
  const [later, setLater] = useState(value)
  useEffect(() => setLater(value), [value])
  return later
}

/** A list with filters, which are kept in the address. The row of the open item is always shown. */
export function FilteredList<Row extends { readonly key: string }>(props: FilteredListProps<Row>) {
  const { name, noun, list, searched, arrange = (rows) => rows, linkTo, view, headings } = props
  const title = name === 'requests' ? 'Requests' : 'Deliveries'
  const { rows } = list
  const find = useLater(parameter('find'))
  const search = useMemo(() => parseSearch(find), [find])
  const { words, unknown } = search
  const { value } = useAction('findInBodies', words.length > 0 ? { list: name, words } : undefined, list)
  const inBodies = useMemo(() => new Map(value?.map(({ word, keys }) => [word, new Set(keys)])), [value])
  const isMatch = (row: Row) => isFound({ key: row.key, ...searched(row) }, search, inBodies)
  const found = useMemo(() => (find === '' ? rows : rows.filter(isMatch)), [list, search, inBodies])
  const chosen = props.chips.find(([value]) => value === parameter('show'))
  const matching = useMemo(() => new Set(chosen ? found.filter(chosen[2]) : found), [found, chosen])
  // A search that finds nothing keeps the chips.
  const chips = useMemo(() => {
    const all: Chip<Row> = ['', 'All', () => true]
    return [all, ...props.chips].flatMap(([value, text, matches]) =>
      rows.some(matches) || value === chosen?.[0] ? [{ value, text, number: found.filter(matches).length }] : [],
    )
  }, [list, found, chosen])
  // Only a row that the filter hides changes the list when it is opened.
  const openKey = segments.value.at(-1)
  const open = rows.find((row) => row.key === openKey && !matching.has(row))
  const shown = useMemo(() => arrange(rows.filter((row) => matching.has(row) || row === open)), [list, matching, open])
  const compared = openItem.value === undefined && rows.find(({ key }) => key === parameter('compare'))
  const undo = () => run(() => perform('restoreRows', { list: name }), 'The rows are back.')
  const done = ({ cleared }: ActionResult<'clearRows'>) => ({
    text: `${count(cleared, noun)} cleared. Retries that wait and the state stay.`,
    next: <Button text="Undo" class="quiet" onClick={undo} />,
  })
  const keys = () => [...matching].map(({ key }) => key)
  const others = rows.length - matching.size
  const askToClear = () =>
    ask({
      title: `Clear ${others > 0 ? 'the' : 'all'} ${amount(matching.size)} rows${others > 0 ? ' of this filter' : ''}?`,
      consequences: [
        others > 0 && `The other ${amount(others)} rows stay. `,
        name === 'deliveries' && 'Deliveries that wait for an attempt stay. ',
        'You can undo this for ten seconds.',
      ],
      yes: 'Clear',
      no: 'Keep',
      onConfirm: () => run(() => perform('clearRows', { list: name, keys: keys() }), done),
    })
  const cleared = list.cleared > 0 && `${count(list.cleared, noun)} cleared. New ones appear here.`
  const absence = rows.length > 0 ? ['No row matches. ', <ClearSearch key="clear" />] : cleared || props.empty
  const clearButton = <Button text="Clear" aria-label={`Clear the ${name}`} class="small" onClick={askToClear} />
  return (
    <Panel title={title} tools={matching.size > 0 && clearButton}>
      <div class="flow filters">
        {compared && (
          <p class="callout">
            Choose the {noun} to compare with <strong>{safe(searched(compared).operation)}</strong>.{' '}
            <Button text="Cancel" class="quiet" onClick={() => setParameter('compare', '')} />
          </p>
        )}
        <SearchField label={`Search ${name}`} />
        {unknown[0] !== undefined && <Unknown find={find} unknown={unknown[0]} />}
        <fieldset class="flow" aria-label="Show">
          {chips.map(({ value, text, number }) => (
            <Button
              key={value}
              text={[`${text} `, <span class="muted">{amount(number)}</span>]}
              class="small chip"
              aria-pressed={value === (chosen?.[0] ?? '')}
              onClick={() => setParameter('show', value)}
            />
          ))}
        </fieldset>
      </div>
      {shown.length > 0 ? (
        <Rows label={title} class={name} rows={shown} {...{ linkTo, view, headings }} />
      ) : (
        <Empty>{absence}</Empty>
      )}
      {list.discarded > 0 && <p class="hint">{`Older ${name} that are no longer stored: ${amount(list.discarded)}`}</p>}
    </Panel>
  )
}

function ClearSearch() {
  const clear = () => {
    setParameter('find', '')
    setParameter('show', '')
  }
  return <Button text="Clear search" class="quiet" onClick={clear} />
}

/** Says which part of a search is not a field, and offers the fields. */
function Unknown({ find, unknown }: { find: string; unknown: string }) {
  const use = (offered: string) => setParameter('find', replaceUnknown(find, unknown, offered))
  return (
    <p class="hint" aria-live="polite">
      <u>{safe(unknown)}</u> is no condition, so it is searched as text. Use{' '}
      {OFFERED.map((offered) => (
        <Button key={offered} text={offered} class="quiet" onClick={() => use(offered)} />
      ))}{' '}
      or <ClearSearch />
    </p>
  )
}

/** The filter of a list, kept in the address. The key `/` focuses it. */
export const SearchField = ({ label }: { label: string }) => (
  <div class="search">
    <input
      class="filter"
      type="search"
      aria-label={label}
      placeholder={`${label}  ( / )`}
      value={parameter('find')}
      autocomplete="off"
      spellcheck={false}
      onInput={({ currentTarget }) => setParameter('find', currentTarget.value)}
    />
    <Button text="?" class="small" aria-label="Help on search and keys" onClick={openHelp} />
  </div>
)

const SEARCH = [
  ['linus 500', 'rows that contain both words; bodies are searched, too'],
  ['"user not found"', 'words that stand together'],
  ['status:500', 'responses with this status; also status:5xx and status:none'],
  ['user:ada', 'calls and messages about a user'],
  ['operation:rewardWallet', 'calls of a method, or messages of a type'],
  ['is:failed', 'calls without success; deliveries with a failed attempt'],
  ['is:retried', 'calls and deliveries with more than one attempt'],
] as const

const KEYS = [
  ['/', 'search'],
  ['j k ↓ ↑', 'next and previous row'],
  ['Enter', 'open the row'],
  ['Escape', 'close the open item'],
  ['?', 'this help'],
] as const

const HELP_ID = 'help'

export const openHelp = (): void => (document.getElementById(HELP_ID) as HTMLDialogElement | null)?.showModal()

/** The words of a search, and the keys of the page. */
export const Help = () => (
  <dialog id={HELP_ID} aria-label="Search and keys">
    <form method="dialog" class="flow spread panel-head">
      <h2>Search and keys</h2>
      <button type="submit" class="small">
        Close
      </button>
    </form>
    <Facts facts={[...SEARCH, ...KEYS]} />
  </dialog>
)
