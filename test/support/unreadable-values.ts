function revokedProxy(): object {
  const { proxy, revoke } = Proxy.revocable({}, {})
  revoke()
  return proxy
}

const fail = (): never => {
  throw new Error('no access')
}

/** Values whose properties cannot be read. A function of the caller may throw any of them. */
export const unreadableValues: readonly { name: string; create: () => object }[] = [
  { name: 'a revoked Proxy', create: revokedProxy },
  {
    name: 'a Proxy whose traps throw',
    create: () => new Proxy(new Error('hidden'), { get: fail, getPrototypeOf: fail, has: fail }),
  },
  {
    name: 'an error whose getters throw',
    create: () =>
      Object.defineProperties(new Error('hidden'), {
        message: { get: fail },
        stack: { get: fail },
        code: { get: fail },
        cause: { get: fail },
      }),
  },
]
