import type { RequestRow } from '../../protocol.ts'
import { requests } from '../live.ts'
import { Badge, toneOf } from '../parts/badge.tsx'
import { FAULT_KINDS } from '../parts/fault-kinds.ts'
import { type Chip, FilteredPanel } from '../parts/filtered-panel.tsx'
import { Link } from '../parts/link.tsx'
import { Empty, Panel } from '../parts/panel.tsx'
import { type Columns, Table } from '../parts/table.tsx'
import { Name, Text, Time } from '../parts/text.tsx'
import { pathOf } from '../route.ts'

const hasStatus = (first: number) => (row: RequestRow) => Math.floor((row.status ?? 0) / 100) === first

const CHIPS: readonly Chip<RequestRow>[] = [
  ['2xx', '2xx', hasStatus(2)],
  ['4xx', '4xx', hasStatus(4)],
  ['5xx', '5xx', hasStatus(5)],
  ['lost', 'No answer', ({ status, isFromConsole }) => status === undefined && !isFromConsole],
  ['refused', 'Refused only', ({ reason }) => reason !== undefined],
  ['fault', 'Injected fault', ({ fault }) => fault !== undefined],
  ['console', 'Console', ({ isFromConsole }) => isFromConsole === true],
]

const NONE = 'No requests yet. Calls of your code appear here.'

/** The calls that the service has received, newest first. */
export function Requests({ brief = false }: { brief?: boolean }) {
  if (!brief) {
    return (
      <FilteredPanel
        title="Requests"
        label="Filter by operation, argument or reason"
        list={requests.value}
        textOf={({ text }) => text}
        chips={CHIPS}
        empty={NONE}
      >
        {(rows) => <RequestTable rows={rows} />}
      </FilteredPanel>
    )
  }
  const { rows } = requests.value
  return (
    <Panel title="Requests" all="/requests">
      {rows.length === 0 ? <Empty>{NONE}</Empty> : <RequestTable rows={rows.slice(0, 8)} />}
    </Panel>
  )
}

const COLUMNS: Columns<RequestRow> = {
  at: ['Time', ({ at }) => <Time ms={at} />],
  status: [
    'Status',
    ({ status, isFromConsole }) =>
      isFromConsole ? <Badge tone="good">done</Badge> : <Badge tone={toneOf(status)}>{status ?? 'none'}</Badge>,
  ],
  operation: [
    'Operation',
    ({ key, operation, method, path }) => (
      <Link to={pathOf('requests', key)} class="opens">
        <Text>{operation ?? `${method} ${path}`}</Text>
      </Link>
    ),
  ],
  subject: [
    'Subject',
    ({ subject, pid }) => (
      <span title={subject}>
        {subject !== '' && <Name>{subject}</Name>}
        {pid !== '' && (
          <span class="muted pid">
            {subject !== '' && ' · '}
            <Text>{pid}</Text>
          </span>
        )}
      </span>
    ),
  ],
  note: [
    'Note',
    ({ reason, fault }) =>
      reason === undefined ? (
        fault && <span class="muted">{FAULT_KINDS[fault][0]}</span>
      ) : (
        <span class="needs" title={reason}>
          <Text>{reason}</Text>
        </span>
      ),
  ],
  took: ['Took', ({ durationMs }) => durationMs !== undefined && `${durationMs} ms`],
  mark: [
    'Mark',
    ({ fault, isFromConsole }) => (
      <>
        {fault && <Badge tone="busy">fault</Badge>}
        {isFromConsole && <Badge>console</Badge>}
      </>
    ),
  ],
}

export const RequestTable = ({ rows }: { rows: readonly RequestRow[] }) => (
  <Table class="requests" columns={COLUMNS} rows={rows} keyOf={({ key }) => key} />
)
