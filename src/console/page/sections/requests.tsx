import { computed } from '@preact/signals'
import { useMemo } from 'preact/hooks'
import { FAULT_KINDS } from '../../fault-kinds.ts'
import type { RequestRow } from '../../protocol.ts'
import { requests, service } from '../live.ts'
import { Badge, StatusBadge } from '../parts/badge.tsx'
import { type Chip, FilteredPanel } from '../parts/filtered-panel.tsx'
import { Rows, type RowView } from '../parts/rows.tsx'
import { About, Name, OneLine, Text, Time } from '../parts/text.tsx'
import { UserLink } from '../parts/user-link.tsx'
import { pathOf } from '../route.ts'

const hasStatus = (first: number) => (row: RequestRow) => Math.floor((row.status ?? 0) / 100) === first

/** Whether the page made the request: an action or a call of its form. */
const isMadeHere = ({ isFromConsole, isFromForm }: RequestRow): boolean => (isFromConsole ?? isFromForm) === true

const CHIPS: readonly Chip<RequestRow>[] = [
  ['2xx', '2xx', hasStatus(2)],
  ['4xx', '4xx', hasStatus(4)],
  ['5xx', '5xx', hasStatus(5)],
  ['lost', 'No response', ({ status, isFromConsole }) => status === undefined && !isFromConsole],
  ['refused', 'Refused only', ({ reason }) => reason !== undefined],
  ['fault', 'Injected fault', ({ fault }) => fault !== undefined],
  ['console', 'Console', isMadeHere],
]

/** The calls that the service has received, newest first. */
export const Requests = () => (
  <FilteredPanel
    title="Requests"
    name="requests"
    noun="request"
    label="Search requests"
    list={requests.value}
    searched={searched}
    chips={CHIPS}
    empty="No requests yet. Calls from your code appear here."
  >
    {(rows) => <RequestRows rows={rows} />}
  </FilteredPanel>
)

/** Whether a call of your code had no success. */
export const hasFailed = ({ status, isFromConsole }: RequestRow): boolean =>
  !isFromConsole && (status === undefined || status >= 400)

/** Whether a fault kept the response of the service from the client. */
export const isLost = ({ fault }: RequestRow): boolean => fault !== undefined && fault !== 'drip' && fault !== 'delay'

/** What a call did, in words. */
export function effectOf(row: RequestRow): string {
  const { handled, reason, method } = row
  const effect = !handled ? 'no effect' : reason !== undefined ? 'refused' : method === 'GET' ? 'processed' : 'applied'
  return handled && isLost(row) ? `${effect}, response lost` : effect
}

/** The status of a call. An action of the page is always done. */
const ResultBadge = ({ row: { status, isFromConsole } }: { row: RequestRow }) =>
  isFromConsole ? <Badge tone="good">done</Badge> : <StatusBadge status={status} />

/** The keys of the calls that were sent again. */
const retried = computed(() => new Set(requests.value.rows.flatMap(({ firstKey }) => firstKey ?? [])))

const searched = (row: RequestRow) => ({
  text: row.text,
  statuses: row.isFromConsole ? [] : [String(row.status ?? 'none')],
  user: [row.user, row.referrer, row.ref_id].filter(Boolean).join(' '),
  operation: titleOf(row),
  isFailed: hasFailed(row),
  isRetried: row.attempt !== undefined || retried.value.has(row.key),
})

/** The users of a call: who it is about, and who referred them. */
export const Who = ({ subject, user, platform, pid, referrer, ref_id }: RequestRow) => (
  <span title={subject}>
    {user === undefined ? (
      subject !== '' && <Name>{subject}</Name>
    ) : (
      <UserLink user={user} platform={platform} pid={pid} />
    )}
    {referrer !== undefined && (
      <span class="muted">
        {' by '}
        <UserLink user={referrer} platform={platform} pid={pid} />
      </span>
    )}
    {pid !== '' && (subject === '' || service.value.campaigns.length > 1) && (
      <span class="muted">
        {subject !== '' && ' · '}
        <Text>{pid}</Text>
      </span>
    )}
    {ref_id !== undefined && <span class="muted"> by {<Text>{ref_id}</Text>}</span>}
  </span>
)

/** What a call is about, and the number of its attempt. */
const AboutCall = (row: RequestRow) => (
  <>
    <About {...row} />
    {row.attempt !== undefined && <span class="muted"> · attempt {row.attempt}</span>}
  </>
)

/** Why a call was refused, or what its fault did. */
const Note = (row: RequestRow) => (
  <>
    {row.fault && <Badge tone="busy">fault</Badge>}
    {row.reason !== undefined ? (
      <OneLine class="needs">{row.reason}</OneLine>
    ) : (
      row.fault && <OneLine>{`${FAULT_KINDS[row.fault][0]}: ${row.handled ? 'applied' : 'no effect'}`}</OneLine>
    )}
  </>
)

/** A request as a row. */
export const requestView = (row: RequestRow, above?: RequestRow): RowView => ({
  at: <Time ms={row.at} />,
  state: <ResultBadge row={row} />,
  name: titleOf(row),
  about: <AboutCall {...row} />,
  who: <Who {...row} />,
  note: <Note {...row} />,
  end: row.durationMs !== undefined && `${row.durationMs} ms`,
  isSame: above !== undefined && callOf(row) === callOf(above),
})

export const titleOf = ({ operation, method, path }: RequestRow): string => operation ?? `${method} ${path}`

export const linkTo = ({ key }: RequestRow): string => pathOf('requests', key)

const callOf = ({ key, firstKey }: RequestRow): string => firstKey ?? key

/** Returns the rows with the attempts of each call together, at the place of the latest attempt. */
function withAttemptsTogether(rows: readonly RequestRow[]): readonly RequestRow[] {
  const retried = new Set(rows.flatMap(({ firstKey }) => firstKey ?? []))
  if (retried.size === 0) return rows
  const calls = new Map<string, RequestRow[]>()
  for (const row of rows) {
    const call = calls.get(callOf(row))
    if (call) call.push(row)
    else calls.set(callOf(row), [row])
  }
  return [...calls.values()].flat()
}

const HEADINGS = { at: 'Time', state: 'Status', name: 'Operation', who: 'User', note: 'Note', end: 'Took' }

const RequestRows = ({ rows }: { rows: readonly RequestRow[] }) => (
  <Rows
    label="Requests"
    class="requests"
    headings={HEADINGS}
    rows={useMemo(() => withAttemptsTogether(rows), [rows])}
    linkTo={linkTo}
    view={requestView}
  />
)
