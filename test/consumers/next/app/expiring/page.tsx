import { expiringToken, newClient, user } from '../../lib/client'

const client = newClient({ accessToken: expiringToken })

export default async function Page() {
  return <p>{`xp ${(await client.getUserProgress(user)).xp}`}</p>
}
