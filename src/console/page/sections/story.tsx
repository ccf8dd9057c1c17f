import { comparableAddress } from '../../../shared/award.ts'
import type { ProgressView, RequestRow, UserView } from '../../protocol.ts'
import { deliveries, requests } from '../live.ts'
import { Badge } from '../parts/badge.tsx'
import { type RowView, TitledRows } from '../parts/rows.tsx'
import { amount, Time } from '../parts/text.tsx'
import { linkTo as linkToRequest, requestView, Who } from './requests.tsx'
import { deliveryView, linkTo as linkToDelivery } from './webhooks/deliveries.tsx'

/** An entry of the story. `order` sorts the entries of one millisecond: request, messages, progress. */
interface Happening {
  readonly at: number
  readonly order: number
  readonly to: string
  readonly view: () => RowView
}

/** The users that a call or a message concerns. */
type Concerned = Pick<RequestRow, 'user' | 'platform' | 'pid' | 'referrer' | 'ref_id'>

/** The calls about a user, their progress and the messages about them, newest first. */
export const Story = ({ user }: { user: UserView }) => (
  <div class="story">
    <TitledRows
      title="Story: calls, progress and messages, newest first"
      rows={happeningsOf(user)}
      linkTo={({ to }) => to}
      view={({ view }) => view()}
    />
  </div>
)

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
  const calls = requests.value.rows.filter(isAbout).map((row) => ({
    at: row.at,
    order: 0,
    to: linkToRequest(row),
    // The user is known; a referral has another one.
    view: () => ({ ...requestView(row), who: (row.referrer ?? row.ref_id) !== undefined && <Who {...row} /> }),
  }))
  // All deliveries of a message stand where the message was queued.
  const messages = deliveries.value.rows.filter(isAbout).map((row) => ({
    at: row.at,
    order: 1,
    to: linkToDelivery(row),
    view: () => ({ ...deliveryView(row), who: undefined }),
  }))
  const progress = user.progress.map((each) => ({
    at: each.at,
    order: 2,
    to: each.key,
    view: () => progressView(each),
  }))
  return [...calls, ...messages, ...progress].sort((one, other) => other.at - one.at || other.order - one.order)
}

const progressView = ({ at, xp, completed }: ProgressView): RowView => ({
  at: <Time ms={at} />,
  state: <Badge tone="good">{`${xp < 0 ? '−' : '+'}${amount(Math.abs(xp))} XP`}</Badge>,
  name: completed.length > 0 ? `completed ${completed.join(', ')}` : 'XP changed',
  opensNothing: true,
})
