import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { comparableAddress } from '../../../shared/wallet-address.ts'
import type { DeliveryRow, ProgressView, RequestRow, UserView } from '../../protocol.ts'
import { deliveries, requests } from '../live.ts'
import { Badge } from '../parts/badge.tsx'
import { Lines } from '../parts/lines.tsx'
import { amount, OneLine, Text, Time } from '../parts/text.tsx'
import { RequestLine } from './requests.tsx'
import { DeliveryLine } from './webhooks/deliveries.tsx'

const SHOWN = 12
const MORE = 200

/** An entry of the story. `order` sorts the entries of one millisecond: request, messages, progress. */
interface Happening {
  readonly at: number
  readonly order: number
  readonly line: ComponentChildren
}

/** The users that a call or a message concerns. */
type Concerned = Pick<RequestRow, 'user' | 'platform' | 'pid' | 'referrer' | 'ref_id'>

/** The calls about a user, their progress and the messages about them, newest first. */
export function Story({ user }: { user: UserView }) {
  const [limit, setLimit] = useState(SHOWN)
  const all = happeningsOf(user)
  return (
    <div class="story">
      <Lines title="Story: calls, progress and messages, newest first">
        {all.slice(0, limit).map(({ line }) => line)}
      </Lines>
      {all.length > limit && (
        <button type="button" class="quiet" onClick={() => setLimit(limit + MORE)}>
          Show more of {amount(all.length)}
        </button>
      )}
    </div>
  )
}

function happeningsOf(user: UserView): readonly Happening[] {
  const wallet = comparableAddress(user.wallet)
  const accounts = new Map(user.profiles.map(({ account, platform }) => [account, platform]))
  const isAccount = (name: string | undefined, on: string | undefined): boolean => {
    if (!name) return false
    const platform = accounts.get(name)
    if (platform === undefined) return wallet !== '' && comparableAddress(name) === wallet
    return on === undefined || on === platform
  }
  const isAbout = ({ user: account, platform, pid, referrer, ref_id }: Concerned): boolean =>
    (pid === '' || pid === user.pid) &&
    (isAccount(account, platform) || isAccount(referrer, platform) || (ref_id !== undefined && ref_id === user.ref_id))
  // The first rows of the lists are the newest. Deliveries of one message stand together.
  const messages = new Map<string, DeliveryRow[]>()
  for (const row of deliveries.value.rows.filter(isAbout)) messages.set(row.id, [...(messages.get(row.id) ?? []), row])
  return [
    ...[...messages.values()].map((rows) => ({
      at: rows.at(-1)?.at ?? 0,
      order: 1,
      line: rows.map((row) => <DeliveryLine key={row.key} row={row} />),
    })),
    ...user.progress.map((progress) => ({
      at: progress.at,
      order: 2,
      line: <Progress key={progress.key} progress={progress} />,
    })),
    ...requests.value.rows.filter(isAbout).map((row) => ({
      at: row.at,
      order: 0,
      line: (
        <RequestLine key={`request-${row.key}`} row={row}>
          {row.reason && <OneLine class="grow needs">{row.reason}</OneLine>}
        </RequestLine>
      ),
    })),
  ].sort((one, other) => other.at - one.at || other.order - one.order)
}

const Progress = ({ progress: { at, xp, completed } }: { progress: ProgressView }) => (
  <li class="row">
    <Badge tone="good">{`${xp < 0 ? '−' : '+'}${amount(Math.abs(xp))} XP`}</Badge>
    <span>
      <Text>{completed.length > 0 ? `completed ${completed.join(', ')}` : 'XP changed'}</Text>
    </span>
    <span class="muted">
      <Time ms={at} />
    </span>
  </li>
)
