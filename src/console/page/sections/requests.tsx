import type { RequestRow } from '../../protocol.ts'
import { discarded, requests } from '../live.ts'
import { Badge, toneOf } from '../parts/badge.tsx'
import { type Chip, FilteredPanel } from '../parts/filtered-panel.tsx'
import { Link } from '../parts/link.tsx'
import { Empty, Panel } from '../parts/panel.tsx'
import { Table } from '../parts/table.tsx'
import { Name, OneLine, Text, Time } from '../parts/text.tsx'
import { pathOf } from '../route.ts'
import { FAULT_KINDS } from './faults.tsx'

const hasStatus = (first: number) => (row: RequestRow) => Math.floor((row.status ?? 0) / 100) === first

const CHIPS: readonly [Chip<RequestRow>, ...Chip<RequestRow>[]] = [
  { value: '', label: 'All', fits: () => true },
  { value: '2xx', label: '2xx', fits: hasStatus(2) },
  { value: '4xx', label: '4xx', fits: hasStatus(4) },
  { value: '5xx', label: '5xx', fits: hasStatus(5) },
  { value: 'lost', label: 'No answer', fits: ({ status, isFromConsole }) => status === undefined && !isFromConsole },
  { value: 'refused', label: 'Refused only', fits: ({ reason }) => reason !== undefined },
  { value: 'fault', label: 'Met a fault', fits: ({ fault }) => fault !== undefined },
  { value: 'console', label: 'Console', fits: ({ isFromConsole }) => isFromConsole === true },
]

const NONE = 'None yet. Calls of your code appear here.'

/** The calls that the service has got, newest first. */
export function Requests({ brief = false, current }: { brief?: boolean; current?: string | undefined }) {
  const all = requests.value
  if (brief) {
    return (
      <Panel title="Requests" all="/requests">
        {all.length === 0 ? <Empty>{NONE}</Empty> : <RequestTable rows={all.slice(0, 8)} />}
      </Panel>
    )
  }
  return (
    <FilteredPanel
      title="Requests"
      label="Filter by operation, argument or reason"
      rows={all}
      textOf={({ text }) => text}
      chips={CHIPS}
      empty={NONE}
      discarded={discarded.value.requests}
    >
      {(rows) => <RequestTable rows={rows} current={current} />}
    </FilteredPanel>
  )
}

interface RequestTableProps {
  readonly rows: readonly RequestRow[]
  readonly current?: string | undefined
}

const COLUMNS = {
  ...{ at: 'Time', status: 'Status', operation: 'Operation', subject: 'Subject' },
  ...{ note: 'Note', took: 'Took', mark: 'Mark' },
}

export const RequestTable = ({ rows, current }: RequestTableProps) => (
  <Table class="requests" columns={COLUMNS} rows={rows}>
    {(row, index) => <RequestLine key={row.key} row={row} index={index} isCurrent={row.key === current} />}
  </Table>
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
