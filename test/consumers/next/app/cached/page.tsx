import { newClient, user } from '../../lib/client'

const client = newClient({
  fetch: (url, init) => fetch(url, { ...init, cache: 'force-cache', next: { revalidate: 3600 } }),
})

export default async function Page() {
  return <p>{`xp ${(await client.getUserProgress(user)).xp}`}</p>
}
