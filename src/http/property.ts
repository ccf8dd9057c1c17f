/** A foreign object's property, however hostile the object: getters may throw. */
export function property(object: object, name: PropertyKey): unknown {
  try {
    return Reflect.get(object, name)
  } catch {
    return undefined
  }
}
