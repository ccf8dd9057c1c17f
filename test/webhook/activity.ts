/** A user activity as the service sends it. This file has no imports, so that every runtime can load it. */
export function exampleActivity<Fields extends { id: string }>(fields: Fields): Fields & Record<string, unknown> {
  return {
    scope: 'user_activity',
    user: 'u-1',
    wallet: '',
    email: '',
    campaign: { id: 'demo', name: 'Demo' },
    event: { type: 'action_completed', data: { action: { id: 'a-1', name: 'Follow', type: 'social' }, xp: 10 } },
    total_xp: 110,
    ref_xp: 0,
    ugc_xp: 0,
    xp_mul: 1,
    rank: 7,
    team: '',
    ...fields,
  }
}
