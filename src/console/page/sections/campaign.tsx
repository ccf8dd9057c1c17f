import { campaigns } from '../live.ts'
import { CopyButton } from '../parts/copy-button.tsx'
import { ItemsByKind } from '../parts/items-by-kind.tsx'
import { Item, Pending } from '../parts/panel.tsx'
import { amount, Text } from '../parts/text.tsx'

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
      <ItemsByKind
        items={campaign.items}
        row={(item) => (
          <li class="row" key={item.id}>
            <span class="grow">
              <Text>{item.name}</Text> <code class="muted">{item.id}</code>
              {item.actions && <span class="muted"> · {item.actions.join(', ')}</span>}
              {item.deps.length > 0 && <span class="muted"> · after {item.deps.join(', ')}</span>}
            </span>
            <span class="number muted">{amount(item.xp)} XP</span>
          </li>
        )}
      />
    </Item>
  )
}
