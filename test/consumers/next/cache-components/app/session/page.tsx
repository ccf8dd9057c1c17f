import { cookies } from 'next/headers'
import { redirect } from 'next/navigation'
import { connection } from 'next/server'
import { Suspense } from 'react'
import { newClient, user } from '../../../lib/client'

async function Progress() {
  await connection()
  const client = newClient({ accessToken: async () => (await cookies()).get('token')?.value ?? redirect('/login') })
  return <p>{`xp ${(await client.getUserProgress(user)).xp}`}</p>
}

export default function Page() {
  return (
    <Suspense fallback={<p>loading</p>}>
      <Progress />
    </Suspense>
  )
}
