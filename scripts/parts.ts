/**
 * Which file of `dist` a module goes into, by its path in the repository; what is named nowhere goes where it is needed. A part
 * may need those above it alone, and no file of code may be larger than gzip looks back: `npm run check:package`
 * holds them to that.
 */
const PARTS: readonly (readonly [part: string, modules: RegExp])[] = [
  ['zod', /^node_modules\/zod\//],
  ['ky-tools', /^node_modules\/ky\/distribution\/(?!core\/Ky\.js|index\.js)/],
  ['ky', /^node_modules\/ky\//],
  ['shared', /^src\/shared\/(?!batches|postgres-table)/],
  ['endpoints', /^src\/(?:endpoints\/|schemas\/(?!user-activity|issue))/],
  ['errors', /^src\/(?:errors|schemas\/issue)\.ts$/],
  ['transport', /^src\/transport\.ts$/],
  [
    'answer',
    /^src\/http\/(?:abort-listeners|address-hint|answer|failure|fetch-transport|property|redact|retry|retry-after|timeout|unwrap)\.ts$/,
  ],
  ['awards', /^src\/bulk\/ledger\/[^/]+$/],
  ['file-ledger', /^src\/bulk\/ledger\/file\//],
  // Of what `#hmac` stands for, which no bundler sees behind that name.
  ['bytes', /^src\/webhook\/verify\/raw-body\.ts$/],
  ['messages', /^src\/webhook\/(?:diagnose|event|verify)\/(?!hmac)/],
  ['receiver', /^src\/webhook\/receiver\//],
  ['world', /^src\/testing\/(?:world\/|rules\/|kinds|schema-rule|refusal|tokens|answer)/],
  ['deliveries', /^src\/testing\/deliveries\//],
]

/** The part that a module goes into. */
export const partOf = (file: string): string | undefined => PARTS.find(([, modules]) => modules.test(file))?.[0]
