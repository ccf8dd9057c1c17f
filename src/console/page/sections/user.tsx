import type { ItemView, UserView } from '../../protocol.ts'
import { attempt, perform, useAnswer } from '../actions.ts'
import { campaigns, usersRevision } from '../live.ts'
import { Badge } from '../parts/badge.tsx'
import { ItemName, ItemsByKind } from '../parts/items-by-kind.tsx'
import { AbsentItem, Facts, Item } from '../parts/panel.tsx'
import { amount, count, Text } from '../parts/text.tsx'

interface UserProps {
  readonly pid: string
  readonly account: string
  readonly platform: string
}

/** A user with everything that the service holds, and the tasks that are left. */
export function User(key: UserProps) {
  const { value: user, error } = useAnswer('readUser', key, usersRevision.value)
  const campaign = campaigns.value.find(({ pid }) => pid === key.pid)
  if (!user || !campaign) return <AbsentItem title={key.account} back="/users" error={error} />
  return (
    <Item title={user.name} back="/users">
      <p class="line muted">
        <Text>{user.account}</Text> on <Text>{user.platform}</Text> in <Text>{campaign.name}</Text>
      </p>
      <dl class="figures">
        <Figure name="Total XP">{amount(user.total)}</Figure>
        <Figure name="Rank">{user.isTied ? `${user.rank} =` : user.rank}</Figure>
        <Figure name="From tasks">{amount(user.xp)}</Figure>
        <Figure name="Referrals">{amount(user.ref_xp)}</Figure>
        <Figure name="Content">{amount(user.ugc_xp)}</Figure>
        <Figure name="Multiplier">× {user.xp_mul}</Figure>
      </dl>
      <ItemsByKind items={campaign.items} row={(item) => <ItemLine key={item.id} item={item} user={user} />} />
      <h3 class="minor">Details</h3>
      <Facts
        facts={[
          ['Team', user.team],
          ['Alias', user.alias],
          ['Wallet', user.wallet],
          ['E-mail', user.email],
          ['Accounts', user.profiles.map(({ account, platform }) => `${account} on ${platform}`).join(', ')],
          ['Referred by', user.referrer ?? ''],
          ['Referral link', user.ref_id],
          ['Rewards', user.rewards.map(({ id, reward }) => `${id} (${reward})`).join(', ')],
        ]}
      />
    </Item>
  )
}

const Figure = ({ name, children }: { name: string; children: string | number | (string | number)[] }) => (
  <div>
    <dt>{name}</dt>
    <dd>{children}</dd>
  </div>
)

function ItemLine({ item, user }: { item: ItemView; user: UserView }) {
  const done = new Set(user.completed)
  const isDone = done.has(item.id)
  const missing = item.deps.filter((id) => !done.has(id))
  const { pid, account, platform } = user
  const complete = () =>
    attempt(() => perform('completeTask', { pid, account, platform, aid: item.id }), `${item.name} is completed.`)
  const notes = [
    item.optional && 'optional',
    item.recurring && 'counts every time',
    item.actions && `${item.actions.filter((id) => done.has(id)).length} of ${count(item.actions.length, 'task')}`,
  ].filter(Boolean)
  return (
    <li class="row">
      <span class={isDone ? 'check done' : 'check'} aria-hidden="true">
        {isDone ? '✓' : ''}
      </span>
      <span class="grow">
        <ItemName item={item} />
        {notes.length > 0 && <span class="muted"> · {notes.join(' · ')}</span>}
        {!isDone && missing.length > 0 && (
          <span class="needs">
            {' '}
            · needs <Text>{missing.join(', ')}</Text>
          </span>
        )}
      </span>
      <span class="number muted">{amount(item.xp)} XP</span>
      {item.kind === 'task' && (!isDone || item.recurring) ? (
        <button
          type="button"
          class="small"
          disabled={missing.length > 0}
          onClick={complete}
          aria-label={`Complete ${item.id}`}
        >
          Complete
        </button>
      ) : (
        isDone && <Badge tone="good">completed</Badge>
      )}
    </li>
  )
}
