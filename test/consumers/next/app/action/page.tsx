import { redirect } from 'next/navigation'
import { newClient, user } from '../../lib/client'

const client = newClient()

async function record() {
  'use server'
  await client.recordActionValue({ ...user, cid: 'welcome', aid: 'follow', value: 1 })
  redirect('/login')
}

export default function Page() {
  return (
    <form action={record}>
      <button type="submit">record</button>
    </form>
  )
}
