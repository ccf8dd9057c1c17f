import type { ComponentChild } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'

interface RowsProps<Row> {
  readonly rows: readonly Row[]
  /** A `tr` with a key, of the same height as all others. */
  readonly children: (row: Row, index: number) => ComponentChild
}

interface TableProps<Row> extends RowsProps<Row> {
  readonly class: string
  /** The heading of each column, by the class of its cells. */
  readonly columns: Readonly<Record<string, string>>
}

/** A long table. Narrow panels leave columns out. */
export const Table = <Row,>({ class: name, columns, rows, children }: TableProps<Row>) => (
  <table class={name} aria-rowcount={rows.length + 1}>
    <thead>
      <tr>
        {Object.entries(columns).map(([column, heading]) => (
          <th key={column} class={column}>
            {heading}
          </th>
        ))}
      </tr>
    </thead>
    <WindowedRows rows={rows}>{children}</WindowedRows>
  </table>
)

const ROW_HEIGHT = 30
/** Rows that are rendered above and below the visible ones; the window moves in steps of half of them. */
const MARGIN = 12

/** The body of a long table: only the rows near the visible part of the page are rendered. */
function WindowedRows<Row>({ rows, children }: RowsProps<Row>) {
  const body = useRef<HTMLTableSectionElement>(null)
  const [{ from, to, height }, setWindow] = useState({ from: 0, to: 3 * MARGIN, height: ROW_HEIGHT })
  useEffect(() => {
    const scroller = document.getElementById('main')
    const element = body.current
    if (!scroller || !element) return undefined
    const look = () => {
      const height = element.querySelector<HTMLElement>('tr:not(.gap)')?.offsetHeight || ROW_HEIGHT
      const above = scroller.getBoundingClientRect().top - element.getBoundingClientRect().top
      const step = MARGIN / 2
      const first = Math.floor(above / height / step) * step - MARGIN
      const from = Math.max(0, Math.min(first, rows.length - MARGIN))
      const to = from + Math.ceil(scroller.clientHeight / height) + 3 * MARGIN
      setWindow((old) => (old.from === from && old.to === to && old.height === height ? old : { from, to, height }))
    }
    look()
    scroller.addEventListener('scroll', look, { passive: true })
    addEventListener('resize', look)
    return () => {
      scroller.removeEventListener('scroll', look)
      removeEventListener('resize', look)
    }
  }, [rows.length])
  return (
    <tbody ref={body}>
      <Gap height={Math.min(from, rows.length) * height} />
      {rows.slice(from, to).map((row, index) => children(row, from + index))}
      <Gap height={Math.max(0, rows.length - to) * height} />
    </tbody>
  )
}

const Gap = ({ height }: { height: number }) =>
  height > 0 ? (
    <tr class="gap" style={{ height: `${height}px` }}>
      <td />
    </tr>
  ) : null
