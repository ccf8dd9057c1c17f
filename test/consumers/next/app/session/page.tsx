import { cookies } from 'next/headers'
import { newClient, user } from '../../lib/client'

export default async function Page() {
  const client = newClient({ accessToken: async () => (await cookies()).get('token')?.value ?? 'no-token-given' })
  return <p>{`xp ${(await client.getUserProgress(user)).xp}`}</p>
}
