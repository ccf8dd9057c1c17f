import type { CampaignSeed } from './seed.ts'

/**
 * The default campaign, `demo`.
 *
 * Tasks `connect-wallet`, `follow`, `share` (needs `follow`), `daily-visit` (gives XP every time) and `feedback`
 * (optional); quests `welcome` and `spread-the-word` (needs `welcome`); challenges `all-rounder` and `regular`.
 * Users `ada`, `grace` (referred by `ada`) and `linus` on platform `discord`; referral links `ref-ada`, `ref-grace`,
 * `ref-linus`; invite codes `WELCOME-2026` (used twice) and `UNUSED-2026`.
 */
export const demoCampaign: CampaignSeed = {
  id: 'demo',
  name: 'Demo campaign',
  organization: 'demo',
  actions: [
    {
      id: 'connect-wallet',
      name: 'Connect a wallet',
      type: 'wallet',
      xp: 50,
      ref_xp: 5,
      meta: { icon: 'wallet', url: 'https://campaign.example/wallet' },
    },
    { id: 'follow', name: 'Follow the project', type: 'social', xp: 20, ref_xp: 2, deps: ['connect-wallet'] },
    { id: 'share', name: 'Share a post', type: 'social', xp: 30, xp_mul: 1.5, ref_xp: 3, deps: ['follow'] },
    { id: 'daily-visit', name: 'Visit every day', type: 'visit', recurrence: 'daily', xp: 5 },
    { id: 'feedback', name: 'Leave feedback', type: 'form', xp: 10, is_optional: true },
  ],
  quests: [
    { id: 'welcome', name: 'Welcome', actions: ['connect-wallet', 'follow', 'feedback'], xp: 100 },
    {
      id: 'spread-the-word',
      name: 'Spread the word',
      actions: ['share', 'daily-visit'],
      xp: 150,
      xp_mul: 2,
      meta: { badge: 'megaphone' },
      deps: ['welcome'],
    },
  ],
  challenges: [
    { id: 'all-rounder', name: 'All-rounder', xp: 500, deps: ['welcome', 'spread-the-word'] },
    { id: 'regular', name: 'Regular', xp: 25, deps: ['daily-visit'], meta: { badge: 'calendar' } },
  ],
  seasons: [
    { name: 'Spring', max_xp: 1000 },
    { name: 'Summer', max_xp: 5000 },
    { name: 'Autumn', max_xp: 20_000 },
  ],
  users: [
    {
      account: 'ada',
      platform: 'discord',
      profiles: [{ account: 'ada@campaign.example', platform: 'email' }],
      wallet: '0xada0000000000000000000000000000000000001',
      email: 'ada@campaign.example',
      name: 'Ada',
      alias: 'countess',
      team: 'analysts',
      xp: 1170,
      ref_xp: 5,
      ugc_xp: 40,
      completed: ['connect-wallet', 'follow', 'welcome'],
      rewards: [{ id: 'reward-ada-1', reward: '1000', type: 'xp' }],
      ref_id: 'ref-ada',
    },
    {
      account: 'grace',
      platform: 'discord',
      email: 'grace@campaign.example',
      name: 'Grace',
      xp: 50,
      completed: ['connect-wallet'],
      referrer: 'ada',
      ref_id: 'ref-grace',
    },
    { account: 'linus', platform: 'discord', name: 'Linus', ref_id: 'ref-linus' },
  ],
  invite_codes: [{ code: 'WELCOME-2026', used_by: ['ada', 'grace'] }, { code: 'UNUSED-2026' }],
}
