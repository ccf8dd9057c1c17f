import type { LinkedProfile } from '../../endpoints/get-user-profiles.ts'

/** A person the service knows, across campaigns. */
export interface User {
  /** The account the user was registered with. */
  readonly account: string
  /** The platform of that account. */
  readonly platform: string
  readonly profiles: LinkedProfile[]
  wallet: string
  email: string
}

/** The platform a user is registered on who is known by a wallet address alone. Assumed. */
export const WALLET_PLATFORM = 'ethereum'

// What `rewardWallet` takes and a seed may hold: with a capital X it is no wallet.
const WALLET_ADDRESS = /^0x[0-9a-fA-F]{40}$/

/**
 * All users, found by any of their accounts. An account that is a wallet address names its user on every platform and
 * in either letter case (assumed): the interface does not say which platform `rewardWallet` registers an address on.
 */
export class UserRegistry {
  readonly #byAccount = new Map<string, User>()

  find(account: string, platform: string): User | undefined {
    return this.#byAccount.get(accountKey(account, platform))
  }

  /** Whether two accounts of a platform name one user, who need not be registered yet. */
  areSame(first: string, second: string, platform: string): boolean {
    if (accountKey(first, platform) === accountKey(second, platform)) return true
    const user = this.find(first, platform)
    return user !== undefined && user === this.find(second, platform)
  }

  /** Finds the user, or registers one with this account. */
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

  /** Adds an account to a user, one that is nobody else's. */
  link(user: User, { account, platform }: LinkedProfile): void {
    const key = accountKey(account, platform)
    if (this.#byAccount.has(key)) return
    this.#byAccount.set(key, user)
    user.profiles.push({ account, platform })
  }

  /** Connects a wallet to a user, one that is nobody else's. */
  connectWallet(user: User, address: string): void {
    this.link(user, { account: address, platform: WALLET_PLATFORM })
    user.wallet = address
  }
}

const accountKey = (account: string, platform: string): string =>
  WALLET_ADDRESS.test(account) ? account.toLowerCase() : JSON.stringify([platform, account])
