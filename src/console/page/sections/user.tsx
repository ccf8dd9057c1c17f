import type { ComponentChildren } from 'preact'
import { useEffect } from 'preact/hooks'
import type { ActionResult, ItemView, UserView } from '../../protocol.ts'
import { keepFocus, perform, run, useAction } from '../actions.ts'
import { deliveries, service } from '../live.ts'
import { Badge } from '../parts/badge.tsx'
import { ItemsByKind } from '../parts/items-by-kind.tsx'
import { AbsentItem, Facts, Item } from '../parts/panel.tsx'
import { amount, count, Text } from '../parts/text.tsx'
import { UserLink } from '../parts/user-link.tsx'
import { pathOf, replace } from '../route.ts'
import { Story } from './story.tsx'
import { linkTo } from './webhooks/deliveries.tsx'

interface UserProps {
  readonly pid: string
  readonly account: string
  readonly platform: string
}

/** A user with their progress, and buttons that complete tasks. */
export function User(props: UserProps) {
  const { value: user, error } = useAction('readUser', props, service.value)
  // The new state of the user has no button for a completed task, and the button may have had the focus.
  useEffect(keepFocus, [user])
  // A link may know only a part of the user's address.
  useEffect(() => {
    if (user) replace(pathOf('users', user.pid, user.platform, user.account))
  }, [user?.id])
  const campaign = service.value.campaigns.find(({ pid }) => pid === user?.pid)
  if (!user || !campaign) return <AbsentItem title={props.account} back="/users" error={error} />
  const isDone = ({ id }: Pick<ItemView, 'id'>) => user.completed.includes(id)
  const missing = (item: ItemView) => (isDone(item) ? [] : item.deps.filter((id) => !isDone({ id })))
  return (
    <Item title={user.name} back="/users">
      <p class="line muted">
        User ID <Text>{user.account}</Text> on <Text>{user.platform}</Text> in <Text>{campaign.name}</Text>
      </p>
      <dl class="figures">
        <Figure name="Total XP">{amount(user.total)}</Figure>
        <Figure name="Rank">{user.isTied ? `${user.rank} =` : user.rank}</Figure>
        <Figure name="From tasks">{amount(user.xp)}</Figure>
        <Figure name="Referrals">{amount(user.ref_xp)}</Figure>
      </dl>
      <Story user={user} />
      <ItemsByKind
        items={campaign.items}
        notes={({ isOptional, isRecurring, actions }) => [
          isOptional && 'optional',
          isRecurring && 'counts every time',
          actions && `${actions.filter((id) => isDone({ id })).length} of ${count(actions.length, 'task')}`,
        ]}
        needs={missing}
        start={(item) => (
          <span class={isDone(item) ? 'check done' : 'check'} aria-hidden="true">
            {isDone(item) && '✓'}
          </span>
        )}
        end={(item) =>
          item.kind === 'task' && (item.isRecurring || !isDone(item)) ? (
            <CompleteButton task={item} user={user} isDisabled={missing(item).length > 0} />
          ) : (
            isDone(item) && <Badge tone="good">completed</Badge>
          )
        }
      />
      <h3 class="minor">Details</h3>
      <Facts
        facts={[
          ['Team', user.team],
          ['Alias', user.alias],
          ['Wallet', user.wallet],
          ['E-mail', user.email],
          ['Linked accounts', user.profiles.map(({ account, platform }) => `${account} on ${platform}`).join(', ')],
          ['Referred by', user.referrer && <UserLink user={user.referrer} pid={user.pid} />],
          ['Referral link', user.ref_id],
          ['Rewards', user.rewards.map(({ id, reward }) => `${id} (${reward})`).join(', ')],
        ]}
      />
    </Item>
  )
}

const Figure = ({ name, children }: { name: string; children: ComponentChildren }) => (
  <div>
    <dt>{name}</dt>
    <dd>{children}</dd>
  </div>
)

function CompleteButton({ task, user, isDisabled }: { task: ItemView; user: UserView; isDisabled: boolean }) {
  const { pid, account, platform } = user
  const complete = () => perform('completeTask', { pid, account, platform, aid: task.id })
  const done = ({ messages }: ActionResult<'completeTask'>) => {
    const text = `${task.name} was completed.`
    const delivery = deliveries.value.rows.find(({ id }) => messages.includes(id))
    return delivery ? { text, next: { label: 'Open the message', to: linkTo(delivery) } } : { text }
  }
  return (
    <button
      type="button"
      class="small"
      disabled={isDisabled}
      onClick={() => run(complete, done)}
      aria-label={`Complete ${task.id}`}
    >
      Complete
    </button>
  )
}
