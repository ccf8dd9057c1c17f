import { computed } from '@preact/signals'
import { requests, service } from '../live.ts'
import { CopyButton } from '../parts/copy-button.tsx'
import { Code } from '../parts/json.tsx'
import { Link } from '../parts/link.tsx'
import { Panel } from '../parts/panel.tsx'
import { baseUrl } from '../route.ts'
import { callPath } from './call-method.tsx'

/** Whether a call from outside the console has arrived. Clearing the list does not change it. */
export const hasCalls = computed(
  () => requests.value.cleared > 0 || requests.value.rows.some(({ isFromConsole }) => !isFromConsole),
)

/** How to make the first call. */
export function Start() {
  const pid = service.value.campaigns[0]?.pid ?? 'demo'
  const lines = [
    "import { CampaignClient } from 'campaign-client'",
    `const client = new CampaignClient({ baseUrl: '${baseUrl}', accessToken: 'dev' })`,
    `console.log(await client.getUserProgress({ account: 'ada', platform: 'discord', pid: '${pid}' }))`,
  ].join('\n')
  return (
    <div class="start">
      <Panel title="Make your first call" tools={<CopyButton text={lines} label="Copy the three lines" />}>
        <p>
          Save these lines as <code>try.mjs</code> in a project with <code>campaign-client</code> installed:
        </p>
        <Code>{lines}</Code>
        <p>Run them:</p>
        <Code>node try.mjs</Code>
        <p class="muted">
          {service.value.acceptsAnyToken
            ? 'Any token works.'
            : 'The service accepts only the tokens that dev was started with: put one in place of dev.'}{' '}
          {hasCalls.value ? 'Your calls are arriving.' : 'This panel stays here until the first call arrives.'}
        </p>
        <p class="muted">
          Without code: <Link to={callPath()}>try a call</Link> in a form.
        </p>
        <p class="muted">For the command and your own scripts, in a shell:</p>
        <Code>{`export CAMPAIGN_BASE_URL=${baseUrl} CAMPAIGN_ACCESS_TOKEN=dev`}</Code>
      </Panel>
    </div>
  )
}
