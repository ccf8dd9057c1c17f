import { newClient, user } from '../../lib/client'

export const runtime = 'edge'

export async function GET() {
  return Response.json(await newClient().getUserProgress(user))
}
