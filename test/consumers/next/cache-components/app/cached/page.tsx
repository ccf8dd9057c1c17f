import { newClient, user } from '../../../lib/client'

const client = newClient()

async function readXp() {
  'use cache'
  const { xp } = await client.getUserProgress(user)
  return xp
}

export default async function Page() {
  return <p>{`xp ${await readXp()}`}</p>
}
