import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'

/** The columns of a table by the class of their cells. */
export type Columns<Row> = Readonly<
  Record<string, readonly [heading: string, cell: (row: Row, above: Row | undefined) => ComponentChildren]>
>

interface TableProps<Row> {
  readonly class: string
  readonly columns: Columns<Row>
  readonly rows: readonly Row[]
  readonly keyOf: (row: Row) => string
  readonly rowClass?: (row: Row, above: Row | undefined) => string
}

const ROW_HEIGHT = 30
/** Number of rows that are rendered above and below the visible ones. */
const MARGIN = 12

/** A table of any length: it renders only the rows near the visible part of the page. Narrow panels hide columns. */
export function Table<Row>({ class: name, columns, rows, keyOf, rowClass }: TableProps<Row>) {
  const body = useRef<HTMLTableSectionElement>(null)
  const [{ from, to, height }, setWindow] = useState({ from: 0, to: 3 * MARGIN, height: ROW_HEIGHT })
  useEffect(() => {
    const scroller = document.getElementById('main')
    const element = body.current
    if (!scroller || !element) return undefined
    const updateWindow = () => {
      const height = element.querySelector<HTMLElement>('tr:not(.gap)')?.offsetHeight || ROW_HEIGHT
      const above = scroller.getBoundingClientRect().top - element.getBoundingClientRect().top
      // The window moves in steps, so that few scroll events cause a render.
      const step = MARGIN / 2
      const first = Math.floor(above / height / step) * step - MARGIN
      const from = Math.max(0, Math.min(first, rows.length - MARGIN))
      const to = from + Math.ceil(scroller.clientHeight / height) + 3 * MARGIN
      setWindow((old) => (old.from === from && old.to === to && old.height === height ? old : { from, to, height }))
    }
    updateWindow()
    scroller.addEventListener('scroll', updateWindow, { passive: true })
    addEventListener('resize', updateWindow)
    return () => {
      scroller.removeEventListener('scroll', updateWindow)
      removeEventListener('resize', updateWindow)
    }
  }, [rows.length])
  const entries = Object.entries(columns)
  return (
    <table class={name} aria-rowcount={rows.length + 1}>
      <thead>
        <tr>
          {entries.map(([column, [heading]]) => (
            <th key={column} class={column}>
              {heading}
            </th>
          ))}
        </tr>
      </thead>
      <tbody ref={body}>
        <Gap height={Math.min(from, rows.length) * height} />
        {rows.slice(from, to).map((row, offset) => {
          const index = from + offset
          const above = rows[index - 1]
          return (
            <tr key={keyOf(row)} class={rowClass?.(row, above)} aria-rowindex={index + 2}>
              {entries.map(([column, [, cell]]) => (
                <td key={column} class={column}>
                  {cell(row, above)}
                </td>
              ))}
            </tr>
          )
        })}
        <Gap height={Math.max(0, rows.length - to) * height} />
      </tbody>
    </table>
  )
}

const Gap = ({ height }: { height: number }) =>
  height > 0 ? (
    <tr class="gap" style={{ height: `${height}px` }}>
      <td />
    </tr>
  ) : null
