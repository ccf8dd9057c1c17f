import type { RequestRow } from '../../protocol.ts'
import { requests } from '../live.ts'
import { Badge, toneOf } from '../parts/badge.tsx'
import { SearchField } from '../parts/field.tsx'
import { Link } from '../parts/link.tsx'
import { Empty, Panel } from '../parts/panel.tsx'
import { Text, Time } from '../parts/text.tsx'
import { parameter, pathOf, setParameter } from '../route.ts'

const LIMIT = 200

export function Requests({ brief = false, current }: { brief?: boolean; current?: number | undefined }) {
  const find = brief ? '' : parameter('find')
  const onlyRefused = !brief && parameter('only') === 'refused'
  const fitting = requests.value.filter((row) => (!onlyRefused || isRefused(row)) && fits(row, find))
  const shown = fitting.slice(0, brief ? 8 : LIMIT)
  const filters = !brief && (
    <>
      <SearchField
        label="Filter by operation, path, code or reason"
        value={find}
        onInput={(text) => setParameter('find', text)}
      />
      <label class="toggle">
        <input
          type="checkbox"
          checked={onlyRefused}
          onChange={({ currentTarget }) => setParameter('only', currentTarget.checked ? 'refused' : '')}
        />
        Only refused
      </label>
    </>
  )
  return (
    <Panel title="Requests" filters={filters} all={brief ? '/requests' : undefined}>
      {shown.length === 0 ? (
        <Empty>
          {requests.value.length > 0 ? 'None fits the filter.' : 'None yet. Each call of your code shows up here.'}
        </Empty>
      ) : (
        <ol class="rows" reversed>
          {shown.map((row) => (
            <RequestLine key={row.number} row={row} isCurrent={row.number === current} />
          ))}
        </ol>
      )}
      {fitting.length > shown.length && !brief && (
        <p class="more muted">
          the latest {shown.length} of {fitting.length}
        </p>
      )}
    </Panel>
  )
}

const isRefused = ({ status, fault }: RequestRow): boolean =>
  fault !== undefined || status === undefined || status >= 400

const fits = ({ method, path, operation = '', status, reason = '', fault = '' }: RequestRow, find: string): boolean =>
  `${method} ${path} ${operation} ${status ?? 'lost'} ${reason} ${fault}`
    .toLowerCase()
    .includes(find.trim().toLowerCase())

function RequestLine({ row, isCurrent }: { row: RequestRow; isCurrent: boolean }) {
  return (
    <li class={isCurrent ? 'row request current' : 'row request'}>
      <Link to={pathOf('requests', row.number)} class="row-link">
        <span class="muted time">
          <Time ms={row.at} />
        </span>
        <Badge tone={toneOf(row.status)}>{row.status ?? 'lost'}</Badge>
        <span class="grow two-lines">
          <span>
            <strong>
              <Text>{row.operation ?? `${row.method} ${row.path}`}</Text>
            </strong>{' '}
            {row.operation && (
              <span class="muted path">
                {row.method} <Text>{row.path}</Text>
              </span>
            )}
          </span>
          {row.reason && (
            <span class="reason">
              <Text>{row.reason}</Text>
            </span>
          )}
        </span>
        {row.fault && <Badge tone="busy">{row.fault}</Badge>}
      </Link>
    </li>
  )
}
