import { connection } from 'next/server'
import { Suspense } from 'react'
import { expiringToken, newClient, user } from '../../lib/client'

const ended: string[] = []
const client = newClient({
  accessToken: expiringToken,
  hooks: { onEnd: ({ operation }) => void ended.push(operation) },
  limits: { maxConcurrency: 2 },
})

async function Progress() {
  await connection()
  const { xp } = await client.getUserProgress(user)
  return <p>{`xp ${xp}, ended ${ended.length > 0}`}</p>
}

export default function Page() {
  return (
    <Suspense fallback={<p>loading</p>}>
      <Progress />
    </Suspense>
  )
}
