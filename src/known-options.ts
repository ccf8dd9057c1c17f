/** Every name of an option object, so that the compiler asks for those that are added to its type. */
export type KnownOptions<Options> = { readonly [Name in keyof Options]-?: true }

/**
 * A misspelt option would leave the default in its place without a word. One that is undefined changes nothing, whatever
 * its name.
 *
 * @throws TypeError when it is no object, or holds a name that is not known
 */
export function requireKnown(where: string, options: unknown, known: Readonly<Record<string, true>>): void {
  if (typeof options !== 'object' || options === null) throw new TypeError(`${where}: expected an object`)
  for (const [name, value] of Object.entries(options)) {
    if (value !== undefined && !Object.hasOwn(known, name)) {
      throw new TypeError(`${where}: ${name} is not an option; there are ${Object.keys(known).join(', ')}`)
    }
  }
}
