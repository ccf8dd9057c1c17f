import { argumentsOf } from '../../endpoints/arguments.ts'
import { endpoints, type OperationName } from '../../endpoints/index.ts'
import { toJsonLine } from '../../shared/text.ts'

/** The parts of a request that the code contains. */
interface CalledMethod {
  readonly operation: OperationName
  /** The base URL of the service. */
  readonly baseUrl: string
  /** The path below the base URL. */
  readonly path: string
  readonly given: Readonly<Record<string, unknown>>
}

/** Returns a request as code that makes the same call. The code reads the token from the environment. The default is `dev`. */
export function toTypeScript({ operation, baseUrl, path, given }: CalledMethod): string {
  const { path: known, response } = endpoints[operation]
  const options = {
    baseUrl: literal(baseUrl),
    accessToken: "process.env.CAMPAIGN_ACCESS_TOKEN ?? 'dev'",
    ...(known === undefined && { webhookRegistrationPath: literal(path) }),
  }
  const fields = argumentsOf(operation).filter(({ name }) => Object.hasOwn(given, name))
  const request = Object.fromEntries(fields.map(({ name }) => [name, literal(given[name])]))
  const call = `await client.${operation}(${objectOf(request)})`
  return [
    "import { CampaignClient } from 'campaign-client'",
    '',
    `const client = new CampaignClient(${objectOf(options)})`,
    response === undefined ? call : `console.log(${call})`,
  ].join('\n')
}

const objectOf = (fields: Readonly<Record<string, string>>): string =>
  `{\n${Object.entries(fields)
    .map(([name, code]) => `  ${name}: ${code},\n`)
    .join('')}}`

/** A JSON value as a literal, in single quotes where no character needs an escape. Unsafe characters are escaped. */
function literal(value: unknown): string {
  return typeof value === 'string' && /^[ -&(-[\]-~]*$/.test(value) ? `'${value}'` : toJsonLine(value)
}
