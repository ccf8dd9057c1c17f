import type { CampaignView, ItemView, UserView } from '../../protocol.ts'
import { attempt, perform, useAnswer } from '../actions.ts'
import { campaigns, usersRevision } from '../live.ts'
import { Badge } from '../parts/badge.tsx'
import { ItemsByKind } from '../parts/items-by-kind.tsx'
import { Item, Pending } from '../parts/panel.tsx'
import { amount, Name, Text } from '../parts/text.tsx'

interface Key {
  readonly pid: string
  readonly account: string
  readonly platform: string
}

/** A user with everything the service holds, and what they have still to do. */
export function User(key: Key) {
  const { value: user, error } = useAnswer('readUser', key, usersRevision.value)
  const campaign = campaigns.value.find(({ pid }) => pid === key.pid)
  const back = '/users'
  if (!user || !campaign) {
    return (
      <Item title={<Text>{key.account}</Text>} back={back}>
        <Pending error={error} />
      </Item>
    )
  }
  return (
    <Item title={<Name>{user.name}</Name>} back={back}>
      <p class="line muted">
        <Text>{user.account}</Text> on <Text>{user.platform}</Text> in <Text>{campaign.name}</Text>
      </p>
      <dl class="figures">
        <Figure name="Total XP">{amount(user.total)}</Figure>
        <Figure name="Rank">{user.rank}</Figure>
        <Figure name="From tasks">{amount(user.xp)}</Figure>
        <Figure name="Referrals">{amount(user.ref_xp)}</Figure>
        <Figure name="Content">{amount(user.ugc_xp)}</Figure>
        <Figure name="Multiplier">× {user.xp_mul}</Figure>
      </dl>
      <Progress user={user} campaign={campaign} />
      <Details user={user} />
    </Item>
  )
}

const Figure = ({ name, children }: { name: string; children: string | number | (string | number)[] }) => (
  <div>
    <dt>{name}</dt>
    <dd>{children}</dd>
  </div>
)

function Progress({ user, campaign }: { user: UserView; campaign: CampaignView }) {
  const done = new Set(user.completed)
  return (
    <ItemsByKind
      items={campaign.items}
      row={(item) => <ItemLine key={item.id} item={item} user={user} done={done} />}
    />
  )
}

function ItemLine({ item, user, done }: { item: ItemView; user: UserView; done: ReadonlySet<string> }) {
  const isDone = done.has(item.id)
  const missing = item.deps.filter((id) => !done.has(id))
  const { pid, account, platform } = user
  const complete = () =>
    attempt(
      () => perform('completeTask', { pid, account, platform, aid: item.id }),
      `${item.id} is completed. Its messages are on their way.`,
    )
  const canComplete = item.kind === 'task' && (!isDone || item.recurring === true)
  return (
    <li class="row">
      <span class={isDone ? 'check done' : 'check'} aria-hidden="true">
        {isDone ? '✓' : ''}
      </span>
      <span class="grow">
        <Text>{item.name}</Text> <code class="muted">{item.id}</code>
        {item.optional && <span class="muted"> · optional</span>}
        {item.recurring && <span class="muted"> · counts every time</span>}
        {!isDone && missing.length > 0 && <span class="muted"> · after {missing.join(', ')}</span>}
        {item.actions && (
          <span class="muted">
            {' '}
            · {item.actions.filter((id) => done.has(id)).length} of {item.actions.length} tasks
          </span>
        )}
      </span>
      <span class="number muted">{amount(item.xp)} XP</span>
      {canComplete ? (
        <button type="button" class="small" onClick={complete} aria-label={`Complete ${item.id}`}>
          Complete
        </button>
      ) : (
        <Badge tone={isDone ? 'good' : 'plain'}>{isDone ? 'completed' : 'none'}</Badge>
      )}
    </li>
  )
}

function Details({ user }: { user: UserView }) {
  const profiles = user.profiles.map(({ account, platform }) => `${account} on ${platform}`)
  const facts: [string, string][] = [
    ['Team', user.team],
    ['Alias', user.alias],
    ['Wallet', user.wallet],
    ['E-mail', user.email],
    ['Accounts', profiles.join(', ')],
    ['Referred by', user.referrer ?? ''],
    ['Referral link', user.ref_id],
    ['Rewards', user.rewards.map(({ id, reward }) => `${id} (${reward})`).join(', ')],
  ]
  return (
    <>
      <h3 class="minor">Details</h3>
      <dl class="facts">
        {facts
          .filter(([, value]) => value !== '')
          .map(([name, value]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>
                <Text>{value}</Text>
              </dd>
            </div>
          ))}
      </dl>
    </>
  )
}
