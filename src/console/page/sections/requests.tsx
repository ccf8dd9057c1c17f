import type { RequestRow } from '../../protocol.ts'
import { requests } from '../live.ts'
import { Badge, toneOf } from '../parts/badge.tsx'
import { type Chip, Chips, chosenChip } from '../parts/chips.tsx'
import { Link } from '../parts/link.tsx'
import { Empty, Panel } from '../parts/panel.tsx'
import { SearchField } from '../parts/search-field.tsx'
import { Name, OneLine, Text, Time } from '../parts/text.tsx'
import { WindowedRows } from '../parts/windowed-rows.tsx'
import { parameter, pathOf } from '../route.ts'
import { FAULT_KINDS } from './faults.tsx'

const hasStatus = (first: number) => (row: RequestRow) => Math.floor((row.status ?? 0) / 100) === first

const CHIPS: readonly Chip<RequestRow>[] = [
  { value: '', label: 'All', fits: () => true },
  { value: '2xx', label: '2xx', fits: hasStatus(2) },
  { value: '4xx', label: '4xx', fits: hasStatus(4) },
  { value: '5xx', label: '5xx', fits: hasStatus(5) },
  { value: 'lost', label: 'No answer', fits: ({ status, isFromConsole }) => status === undefined && !isFromConsole },
  { value: 'refused', label: 'Refused only', fits: ({ reason }) => reason !== undefined },
  { value: 'fault', label: 'Met a fault', fits: ({ fault }) => fault !== undefined },
  { value: 'console', label: 'Console', fits: ({ isFromConsole }) => isFromConsole === true },
]

/** The calls that the service has got, newest first. */
export function Requests({ brief = false, current }: { brief?: boolean; current?: string | undefined }) {
  const all = requests.value
  if (brief) {
    return (
      <Panel title="Requests" all="/requests">
        {all.length === 0 ? (
          <Empty>None yet. Calls of your code appear here.</Empty>
        ) : (
          <RequestTable rows={all.slice(0, 8)} />
        )}
      </Panel>
    )
  }
  const find = parameter('find').trim().toLowerCase()
  const found = find === '' ? all : all.filter(({ text }) => text.includes(find))
  const shown = found.filter(chosenChip(CHIPS)?.fits ?? (() => true))
  const filters = (
    <>
      <SearchField label="Filter by operation, argument or reason" />
      <Chips chips={CHIPS} rows={found} />
    </>
  )
  return (
    <Panel title="Requests" filters={filters}>
      {shown.length === 0 ? (
        <Empty>{all.length > 0 ? 'No request fits the filter.' : 'None yet. Calls of your code appear here.'}</Empty>
      ) : (
        <RequestTable rows={shown} current={current} />
      )}
    </Panel>
  )
}

interface RequestTableProps {
  readonly rows: readonly RequestRow[]
  readonly current?: string | undefined
}

export const RequestTable = ({ rows, current }: RequestTableProps) => (
  <table class="requests" aria-rowcount={rows.length + 1}>
    <thead>
      <tr>
        <th class="at">Time</th>
        <th class="status">Status</th>
        <th class="operation">Operation</th>
        <th class="subject">Subject</th>
        <th class="note">Note</th>
        <th class="took">Took</th>
        <th class="mark">Mark</th>
      </tr>
    </thead>
    <WindowedRows rows={rows}>
      {(row, index) => <RequestLine key={row.key} row={row} index={index} isCurrent={row.key === current} />}
    </WindowedRows>
  </table>
)

function RequestLine({ row, index, isCurrent }: { row: RequestRow; index: number; isCurrent: boolean }) {
  const { key, at, status, operation, method, path, subject, pid, reason, fault, durationMs, isFromConsole } = row
  return (
    <tr class={isCurrent ? 'current' : undefined} aria-rowindex={index + 2}>
      <td class="at">
        <Time ms={at} />
      </td>
      <td class="status">
        {isFromConsole ? <Badge tone="good">done</Badge> : <Badge tone={toneOf(status)}>{status ?? 'none'}</Badge>}
      </td>
      <td class="operation">
        <Link to={pathOf('requests', key)} class="opens">
          <Text>{operation ?? `${method} ${path}`}</Text>
        </Link>
      </td>
      <td class="subject" title={subject}>
        {subject !== '' && <Name>{subject}</Name>}
        {pid !== '' && (
          <span class="muted pid">
            {subject !== '' && ' · '}
            <Text>{pid}</Text>
          </span>
        )}
      </td>
      <td class="note">
        {reason !== undefined ? (
          <OneLine class="needs">{reason}</OneLine>
        ) : (
          fault !== undefined && <span class="muted">{FAULT_KINDS[fault][0]}</span>
        )}
      </td>
      <td class="took">{durationMs !== undefined && `${durationMs} ms`}</td>
      <td class="mark">
        {fault !== undefined && <Badge tone="busy">fault</Badge>}
        {isFromConsole && <Badge>console</Badge>}
      </td>
    </tr>
  )
}
