/**
 * Whether node:http, or node:https, takes an agent: one that names a protocol must name theirs.
 *
 * Asked only where the name is a plain field, as Node's own agents have it. Those of many proxies have a getter, which guesses by
 * the stack whether node:https is the one that asks: here it would be wrong.
 */
export function canServe(agent: object, encrypted: boolean): boolean {
  const protocol = fieldOf(agent, 'protocol')
  return !protocol || protocol === (encrypted ? 'https:' : 'http:')
}

/** What is said of an agent that node:http, or node:https, refuses. */
export function wrongAgent(encrypted: boolean): string {
  const [has, wants] = encrypted ? ['http', 'https'] : ['https', 'http']
  return `the agent of nodeTransport is an ${has}.Agent, and baseUrl wants an ${wants}.Agent`
}

/** The value of a field, an inherited one included; undefined where a getter would have to be called for it. */
function fieldOf(object: object, name: string): unknown {
  for (let owner: object | null = object; owner !== null; owner = Object.getPrototypeOf(owner)) {
    const field = Object.getOwnPropertyDescriptor(owner, name)
    if (field !== undefined) return field.value
  }
  return undefined
}
