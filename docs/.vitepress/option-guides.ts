import { readFileSync } from 'node:fs'
import { type Comment, type DeclarationReflection, type ProjectReflection, ReflectionKind } from 'typedoc'
import { anchorOf } from './anchor.ts'

/** The guides whose tables describe the options of an interface, the most specific first. */
export const GUIDES: Readonly<Record<string, readonly string[]>> = {
  CampaignClientOptions: ['client-options', 'tokens', 'retries-and-idempotency'],
  DerivedClientOptions: ['client-options'],
  CallOptions: ['client-options'],
  RequestLimits: ['client-options', 'retries-and-idempotency'],
  WriteGuard: ['client-options'],
  ClientHooks: ['client-options'],
  NodeTransportOptions: ['client-options'],
  WebhookReceiverOptions: ['webhooks', 'webhook-receiver'],
  WebhookCloseOptions: ['webhook-receiver', 'shutdown'],
  MemoryStoreOptions: ['webhook-stores'],
  RedisStoreOptions: ['webhook-stores'],
  PostgresStoreOptions: ['webhook-stores'],
  SqliteStoreOptions: ['webhook-stores'],
  RewardWalletsOptions: ['bulk-awards'],
  AwardOneOptions: ['award-jobs', 'bulk-awards'],
  ConfirmFromProgressOptions: ['bulk-awards'],
  Evidence: ['bulk-awards'],
  FileLedgerOptions: ['award-ledger'],
  PostgresLedgerOptions: ['award-ledger', 'award-jobs'],
  Rebind: ['award-ledger'],
  ReadProgressOptions: ['bulk-awards', 'missed-events'],
  CampaignServiceOptions: ['testing', 'testing-webhooks'],
  CampaignHandlersOptions: ['testing'],
  CompleteTaskOptions: ['testing-webhooks'],
  EmitOptions: ['testing-webhooks'],
  ExportSeedOptions: ['seeds'],
  ListenOptions: ['testing'],
  ManualClockOptions: ['testing-webhooks'],
  TestWebhookOptions: ['testing-webhooks'],
  TokenOptions: ['testing'],
  WebhookOptions: ['testing-webhooks'],
}

/** Adds to each option the section of the guide with it. */
export function addGuides(project: ProjectReflection): void {
  for (const [name, guides] of Object.entries(GUIDES)) {
    const owners = project.getReflectionsByKind(ReflectionKind.Interface | ReflectionKind.TypeAlias)
    for (const owner of owners.filter((reflection) => reflection.name === name) as DeclarationReflection[]) {
      // Some types are made of others and have no members of their own.
      for (const option of owner.children ?? [owner]) {
        const comment = option.comment ?? option.signatures?.[0]?.comment
        if (comment !== undefined) addGuide(comment, guideTo(option.name, guides))
      }
    }
  }
}

const addGuide = (comment: Comment, link: string): void => {
  comment.summary = [...comment.summary, { kind: 'text', text: `\n\nGuide: ${link}` }]
}

/** Returns the link to the section whose table or text has the option, or to the first guide. */
export function guideTo(option: string, guides: readonly string[]): string {
  for (const guide of guides) {
    const markdown = readFileSync(new URL(`../${guide}.md`, import.meta.url), 'utf8')
    const sections = markdown.replaceAll(/^```[\s\S]*?^```$/gm, '').split(/^(?=#+ )/m)
    const inTable = sections.find((section) => new RegExp(`^\\|[^|]*\`${option}\`[^|]*\\|`, 'm').test(section))
    const section = inTable ?? sections.find((text) => text.includes(`\`${option}\``))
    const [, marks = '', heading = ''] = /^(#+) (.+)$/m.exec(section ?? '') ?? []
    if (section !== undefined && marks !== '') {
      return `[${heading.replaceAll('`', '')}](/${guide}${marks === '#' ? '' : `#${anchorOf(heading)}`})`
    }
  }
  const [first = ''] = guides
  return `[${/^# (.+)$/m.exec(readFileSync(new URL(`../${first}.md`, import.meta.url), 'utf8'))?.[1]}](/${first})`
}
