import { elementScroll, observeElementOffset, observeElementRect, Virtualizer } from '@tanstack/virtual-core'
import type { ComponentChildren, RefObject } from 'preact'
import { useEffect, useLayoutEffect, useMemo, useReducer, useRef, useState } from 'preact/hooks'
import { latestItem, path } from '../route.ts'
import { IsTabStop, Link } from './controls.tsx'
import { nameOf } from './text.tsx'

/** The parts of a row, in the order of the columns. A narrow list shows them in two lines. */
const PARTS = ['at', 'state', 'name', 'who', 'note', 'end'] as const

type Part = (typeof PARTS)[number]

/** What a row shows. */
export interface RowView extends Partial<Readonly<Record<Part, ComponentChildren>>> {
  readonly name: string
  /** Stands after the name. */
  readonly about?: ComponentChildren
  /** Whether the row has no item that it opens. */
  readonly opensNothing?: boolean
  /** Name of the link for screen readers. @defaultValue the name */
  readonly label?: string
  /** Whether the row belongs to the same call or message as the row above. */
  readonly isSame?: boolean
}

export interface RowsProps<Row> {
  /** Name of the list for screen readers. */
  readonly label: string
  readonly class?: string
  readonly rows: readonly Row[]
  /** Returns the path of the item that a row opens; another unique name for a row that opens nothing. */
  readonly linkTo: (row: Row) => string
  readonly view: (row: Row, above: Row | undefined) => RowView
  /** The headings of the columns; absent for a list without a head. */
  readonly headings?: Readonly<Partial<Record<Part, string>>> | undefined
}

const ROW_HEIGHT = 30
/** Number of rows that are rendered above and below the visible ones. */
const MARGIN = 8

const scrollerOf = (body: RefObject<HTMLElement | null>) => body.current?.closest<HTMLElement>('.list, .pane')

/**
 * A list of any length: it renders only the rows near the visible part. The row of the open item keeps its place on the screen
 * when the list changes.
 */
export function Rows<Row>({ label, class: name = '', rows, linkTo, view, headings }: RowsProps<Row>) {
  const body = useRef<HTMLTableSectionElement>(null)
  const { from, to, height, scrollTo } = useVisibleRows(body, rows.length)
  const indexOf = useMemo(() => new Map(rows.map((row, index) => [linkTo(row), index])), [rows])
  const rememberPlace = useSteadyRow(body, indexOf, height)
  const { tabStop, onFocus, onKeyDown } = useArrowKeys(body, indexOf, scrollTo)
  return (
    <table class={`rows ${name}`} aria-label={label} aria-rowcount={rows.length + (headings ? 1 : 0)}>
      {headings && (
        <thead>
          <tr>
            {PARTS.map((part) => {
              const Cell = headings[part] === undefined ? 'td' : 'th'
              return (
                <Cell key={part} class={part}>
                  {headings[part]}
                </Cell>
              )
            })}
          </tr>
        </thead>
      )}
      <tbody ref={body} onClickCapture={rememberPlace} onClick={openRow} onFocusCapture={onFocus} onKeyDown={onKeyDown}>
        <Gap height={Math.min(from, rows.length) * height} />
        {rows.slice(from, to).map((row, offset) => {
          const index = from + offset
          const place = { index: index + (headings ? 2 : 1), isTabStop: index === (tabStop ?? from) }
          return <KeptRow key={linkTo(row)} to={linkTo(row)} {...{ view, row, above: rows[index - 1], ...place }} />
        })}
        <Gap height={Math.max(0, rows.length - to) * height} />
      </tbody>
    </table>
  )
}

/** The place of rows that are not rendered. */
const Gap = ({ height }: { height: number }) => height > 0 && <tr class="gap" style={{ height: `${height}px` }} />

/** Rows below a heading; nothing without rows. */
export const TitledRows = <Row,>({ title, ...props }: Omit<RowsProps<Row>, 'label'> & { title: string }) =>
  props.rows.length === 0 ? null : (
    <>
      <h3 class="minor">{title}</h3>
      <Rows {...props} label={title} />
    </>
  )

/** Returns which rows are near the visible part of the list, and their height. */
function useVisibleRows(body: RefObject<HTMLElement | null>, count: number) {
  const [, render] = useReducer((renders: number) => renders + 1, 0)
  const [{ height, above }, setPlace] = useState({ height: ROW_HEIGHT, above: 0 })
  const options = {
    count,
    getScrollElement: () => scrollerOf(body) ?? null,
    estimateSize: () => height,
    overscan: MARGIN,
    scrollMargin: above,
    // The head covers the first row in view.
    scrollPaddingStart: 2 * height,
    scrollPaddingEnd: height,
    scrollToFn: elementScroll,
    observeElementRect,
    observeElementOffset,
    onChange: () => render(undefined),
  }
  const [virtualizer] = useState(() => new Virtualizer<HTMLElement, HTMLElement>(options))
  virtualizer.setOptions(options)
  useLayoutEffect(() => virtualizer._didMount(), [])
  useLayoutEffect(() => {
    virtualizer._willUpdate()
    const scroller = scrollerOf(body)
    if (!scroller || !body.current) return
    const height = body.current.querySelector<HTMLElement>('tr:not(.gap)')?.offsetHeight || ROW_HEIGHT
    const top = body.current.getBoundingClientRect().top - scroller.getBoundingClientRect().top
    const above = Math.round(top + scroller.scrollTop)
    setPlace((old) => (old.height === height && old.above === above ? old : { height, above }))
  })
  useLayoutEffect(() => virtualizer.measure(), [height])
  const items = virtualizer.getVirtualItems()
  return {
    from: items[0]?.index ?? 0,
    to: (items.at(-1)?.index ?? -1) + 1,
    height,
    scrollTo: (index: number) => virtualizer.scrollToIndex(index, { align: 'auto' }),
  }
}

interface RowProps<Row> extends Pick<RowsProps<Row>, 'view'> {
  readonly to: string
  readonly row: Row
  readonly above: Row | undefined
  /** The `aria-rowindex` of the row, from 1. The head counts as a row. */
  readonly index: number
  readonly isTabStop: boolean
}

/** A row that is rendered again only when its props change, or when a signal that its parts read changes. */
const KeptRow = <Row,>(props: RowProps<Row>) => useMemo(() => <OneRow {...props} />, Object.values(props))

function OneRow<Row>({ to, view, row, above, index, isTabStop }: RowProps<Row>) {
  const { name, about, opensNothing, label, isSame, ...parts } = view(row, above)
  const text = nameOf(name)
  const title = opensNothing ? text : <Link to={to} class="opens" label={label} text={text} />
  const shown = { ...parts, name: [title, about] }
  return (
    <tr class={isSame ? 'same' : undefined} aria-rowindex={index}>
      <IsTabStop.Provider value={isTabStop}>
        {PARTS.map((part) => (
          <td key={part} class={part}>
            {shown[part]}
          </td>
        ))}
      </IsTabStop.Provider>
    </tr>
  )
}

const rowOf = (place: EventTarget | null) => (place instanceof Element ? place.closest('tr') : null)

/** Returns the link of the row at a place. */
const linkOf = (place: EventTarget | null) => rowOf(place)?.querySelector<HTMLElement>('.opens')

/** Opens a row that is clicked outside its link. Selecting text in the row does not open it. */
function openRow({ target, metaKey, ctrlKey, shiftKey }: MouseEvent): void {
  const isHandled = target instanceof Element && target.closest('a, button') !== null
  if (isHandled || metaKey || ctrlKey || shiftKey || getSelection()?.toString()) return
  linkOf(target)?.click()
}

/** How far each key moves the focus in a table. */
const STEPS: Readonly<Record<string, number>> = {
  ArrowDown: 1,
  j: 1,
  ArrowUp: -1,
  k: -1,
  PageDown: 10,
  PageUp: -10,
  Home: -Infinity,
  End: Infinity,
}

/** Moves the focus between the rows by keys. The focused row, or else the open one, is the only tab stop of the table. */
function useArrowKeys(
  body: RefObject<HTMLElement | null>,
  indexOf: ReadonlyMap<string, number>,
  scrollTo: (index: number) => void,
) {
  const [current, setCurrent] = useState<string | undefined>()
  const wanted = useRef<string>(undefined)
  const index = indexOf.get(current ?? '') ?? indexOf.get(latestItem.value ?? '')
  // A row out of sight is rendered only after the list has scrolled to it.
  useEffect(() => {
    const link = wanted.current && body.current?.querySelector<HTMLElement>(`[data-to="${CSS.escape(wanted.current)}"]`)
    if (!link) return
    wanted.current = undefined
    link.focus({ preventScroll: true })
  })
  return {
    tabStop: index,
    onFocus: ({ target }: FocusEvent) => setCurrent(linkOf(target)?.dataset.to),
    onKeyDown(event: KeyboardEvent) {
      const step = STEPS[event.key]
      if (step === undefined || event.metaKey || event.ctrlKey || event.altKey) return
      event.preventDefault()
      const next = Math.max(0, Math.min((index ?? -1) + step, indexOf.size - 1))
      wanted.current = [...indexOf.keys()][next]
      if (wanted.current === undefined) return
      setCurrent(wanted.current)
      scrollTo(next)
    },
  }
}

/**
 * Keeps the row of the open item, or of the item that was open last, at its place on the screen. An item that was opened by
 * its address is scrolled into view. Returns a listener that remembers the place of a row that is being opened.
 */
function useSteadyRow(body: RefObject<HTMLElement | null>, indexOf: ReadonlyMap<string, number>, height: number) {
  const place = useRef<{ readonly to: string | undefined; readonly top: number }>(undefined)
  const to = latestItem.value
  const index = indexOf.get(to ?? '')
  /** Returns the list, if it is shown and has the row, and the row's place. A narrow page hides the list of an open item. */
  const find = () => {
    const scroller = body.current?.closest('.list')
    if (!body.current || !scroller || index === undefined || scroller.clientHeight === 0) return undefined
    return { scroller, now: body.current.getBoundingClientRect().top + index * height }
  }
  useLayoutEffect(() => {
    const found = find()
    if (!found) return
    const { scroller, now } = found
    const { top, bottom } = scroller.getBoundingClientRect()
    const isVisible = now > top + height && now < bottom - height
    const isInPlace = isVisible || path.value !== to
    const known = place.current?.to === to ? place.current?.top : undefined
    const target = known ?? (isInPlace ? now : (top + bottom) / 2)
    if (Math.abs(now - target) >= 1) scroller.scrollTop += now - target
    place.current = { to, top: find()?.now ?? now }
  })
  useEffect(() => {
    const scroller = body.current?.closest('.list')
    const remember = () => {
      const found = find()
      if (found) place.current = { to, top: found.now }
    }
    scroller?.addEventListener('scroll', remember, { passive: true })
    return () => scroller?.removeEventListener('scroll', remember)
  }, [to, index, height])
  return ({ target }: MouseEvent) => {
    const [opened, row] = [linkOf(target)?.dataset.to, rowOf(target)]
    if (opened !== undefined && row) place.current = { to: opened, top: row.getBoundingClientRect().top }
  }
}
