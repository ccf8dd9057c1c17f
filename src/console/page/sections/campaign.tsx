import { campaigns } from '../live.ts'
import { CopyButton } from '../parts/copy-button.tsx'
import { Item, Pending } from '../parts/panel.tsx'
import { amount, Text } from '../parts/text.tsx'

const KINDS = [
  ['task', 'Tasks'],
  ['quest', 'Quests'],
  ['challenge', 'Challenges'],
] as const

/** What a campaign consists of, with the ids that calls want. */
export function Campaign({ pid }: { pid: string }) {
  const campaign = campaigns.value.find((each) => each.pid === pid)
  if (!campaign) {
    return (
      <Item title={<Text>{pid}</Text>} back="/users">
        <Pending error="There is no such campaign." />
      </Item>
    )
  }
  return (
    <Item
      title={<Text>{campaign.name}</Text>}
      back="/users"
      tools={<CopyButton text={`npx campaign-client types ${pid}`} label="Copy types command" />}
    >
      <p class="line">
        <code>pid: {campaign.pid}</code>
        <span class="muted">
          {campaign.users} joined · {amount(campaign.points)} XP
        </span>
      </p>
      {KINDS.map(([kind, title]) => {
        const items = campaign.items.filter((item) => item.kind === kind)
        if (items.length === 0) return null
        return (
          <div key={kind}>
            <h3 class="minor">{title}</h3>
            <ul class="rows">
              {items.map((item) => (
                <li class="row" key={item.id}>
                  <span class="grow">
                    <Text>{item.name}</Text> <code class="muted">{item.id}</code>
                    {item.actions && <span class="muted"> · {item.actions.join(', ')}</span>}
                    {item.deps.length > 0 && <span class="muted"> · after {item.deps.join(', ')}</span>}
                  </span>
                  <span class="number muted">{amount(item.xp)} XP</span>
                </li>
              ))}
            </ul>
          </div>
        )
      })}
    </Item>
  )
}
