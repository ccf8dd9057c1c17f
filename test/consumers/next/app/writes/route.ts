import { newClient, user } from '../../lib/client'

export const dynamic = 'force-dynamic'
export const fetchCache = 'default-cache'

export async function GET() {
  const client = newClient()
  for (let i = 0; i < 3; i++) await client.recordActionValue({ ...user, cid: 'welcome', aid: 'follow', value: 1 })
  return new Response('recorded')
}
