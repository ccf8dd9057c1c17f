import { baseUrl } from '../base-url.ts'
import { campaigns, requests } from '../live.ts'
import { Code } from '../parts/code.tsx'
import { CopyButton } from '../parts/copy-button.tsx'

/** For those who have just started it: what to paste, and what to try then. */
export function Start() {
  const pid = campaigns.value[0]?.pid ?? 'demo'
  const lines = [
    "import { CampaignClient } from 'campaign-client'",
    `const client = new CampaignClient({ baseUrl: '${baseUrl}', accessToken: 'dev' })`,
    `console.log(await client.getUserProgress({ account: 'ada', platform: 'discord', pid: '${pid}' }))`,
  ].join('\n')
  return (
    <section class="panel start" aria-labelledby="start">
      <header class="panel-head">
        <h2 id="start">Point your code here</h2>
        <div class="tools">
          <CopyButton text={lines} label="Copy the three lines" />
        </div>
      </header>
      <Code>{lines}</Code>
      <p class="muted">
        {requests.value.length === 0
          ? 'Any token will do. This stays here until the first call arrives.'
          : 'Any token will do. Your calls are arriving.'}{' '}
        In a shell: <code>export CAMPAIGN_BASE_URL={baseUrl} CAMPAIGN_ACCESS_TOKEN=dev</code>
      </p>
    </section>
  )
}
