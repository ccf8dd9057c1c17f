import { newClient, user } from '../../lib/client'

const ended: string[] = []
const client = newClient({
  hooks: { onEnd: ({ operation }) => void ended.push(operation) },
  limits: { maxConcurrency: 2 },
})

export default async function Page() {
  const { xp } = await client.getUserProgress(user)
  return <p>{`xp ${xp}, ended ${ended.length > 0}`}</p>
}
