import { cookies } from 'next/headers'
import { redirect } from 'next/navigation'
import { newClient, user } from '../../lib/client'

export default async function Page() {
  const client = newClient({ accessToken: async () => (await cookies()).get('token')?.value ?? redirect('/login') })
  return <p>{`xp ${(await client.getUserProgress(user)).xp}`}</p>
}
