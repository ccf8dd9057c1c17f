import type { LinkedProfile } from '../../endpoints/get-user-profiles.ts'
import { comparableAddress, WALLET_ADDRESS } from '../../shared/award.ts'

/** A user, in all campaigns. */
export interface User {
  /** The account the user was registered with. */
  readonly account: string
  /** The platform of that account. */
  readonly platform: string
  readonly profiles: LinkedProfile[]
  wallet: string
  email: string
}

/**
 * All users. `find` accepts any account of a user. The platform and the letter case of a wallet address do not matter
 * (assumed): the API description does not show the platform on which `rewardWallet` registers an address.
 */
export class UserRegistry {
  readonly #byAccount = new Map<string, User>()

  find(account: string, platform: string): User | undefined {
    return this.#byAccount.get(accountKey(account, platform))
  }

  /** Whether two accounts of a platform belong to one user. The user need not be registered. */
  areSameUser(first: string, second: string, platform: string): boolean {
    if (accountKey(first, platform) === accountKey(second, platform)) return true
    const user = this.find(first, platform)
    return user !== undefined && user === this.find(second, platform)
  }

  /** Returns the user with this account. Registers a user if there is none. */
  register(account: string, platform: string): User {
    const known = this.find(account, platform)
    if (known) return known
    const user: User = {
      account,
      platform,
      profiles: [],
      wallet: WALLET_ADDRESS.test(account) ? account : '',
      email: '',
    }
    this.link(user, { account, platform })
    return user
  }

  /** Adds an account to a user. Returns false if the account belongs to another user. */
  link(user: User, { account, platform }: LinkedProfile): boolean {
    const key = accountKey(account, platform)
    const owner = this.#byAccount.get(key)
    if (owner) return owner === user
    this.#byAccount.set(key, user)
    user.profiles.push({ account, platform })
    return true
  }
}

const accountKey = (account: string, platform: string): string =>
  WALLET_ADDRESS.test(account) ? comparableAddress(account) : JSON.stringify([platform, account])
