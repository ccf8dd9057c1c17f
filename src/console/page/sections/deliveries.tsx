import type { DeliveryRow } from '../../protocol.ts'
import { deliveries } from '../live.ts'
import { Marks, NextAttempt } from '../parts/attempts.tsx'
import { SearchField } from '../parts/field.tsx'
import { Link } from '../parts/link.tsx'
import { Empty } from '../parts/panel.tsx'
import { Name, Text } from '../parts/text.tsx'
import { parameter, pathOf, setParameter } from '../route.ts'

const LIMIT = 200

/** The messages on their way, and those that have arrived or not. */
export function Deliveries({ brief = false, current }: { brief?: boolean; current?: string | undefined }) {
  const find = brief ? '' : parameter('find')
  const fitting = deliveries.value.filter((row) => fits(row, find))
  const shown = fitting.slice(0, brief ? 6 : LIMIT)
  return (
    <>
      <header class="sub-head">
        <h3>Deliveries</h3>
        {!brief && (
          <SearchField
            label="Filter by event, account, URL or state"
            value={find}
            onInput={(text) => setParameter('find', text)}
          />
        )}
      </header>
      {shown.length === 0 ? (
        <Empty>{deliveries.value.length > 0 ? 'None fits the filter.' : 'No message has been sent yet.'}</Empty>
      ) : (
        <ol class="rows" reversed>
          {shown.map((row) => (
            <DeliveryLine key={row.key} row={row} isCurrent={row.key === current} />
          ))}
        </ol>
      )}
      {fitting.length > shown.length && !brief && (
        <p class="more muted">
          the latest {shown.length} of {fitting.length}
        </p>
      )}
    </>
  )
}

const fits = ({ id, type, user, url, state, hook_id }: DeliveryRow, find: string): boolean =>
  `${id} ${type} ${user} ${url} ${state} ${hook_id}`.toLowerCase().includes(find.trim().toLowerCase())

function DeliveryLine({ row, isCurrent }: { row: DeliveryRow; isCurrent: boolean }) {
  return (
    <li class={isCurrent ? 'row current' : 'row'}>
      <Link to={pathOf('deliveries', row.key)} class="row-link">
        <Marks delivery={row} />
        <span class="grow two-lines">
          <span>
            <strong>
              <Text>{row.type}</Text>
            </strong>{' '}
            {row.user && (
              <span class="muted">
                <Name>{row.user}</Name>
              </span>
            )}
          </span>
          <span class="muted path">
            → <Text>{row.url}</Text>
          </span>
        </span>
        <NextAttempt at={row.nextAttemptAt} />
        {row.state === 'undelivered' && <span class="bad-text">undelivered</span>}
      </Link>
    </li>
  )
}
