/** The form of an Ethereum wallet address. The letter case carries an optional checksum; `0X` is not accepted. */
export const WALLET_ADDRESS = /^0x[0-9a-fA-F]{40}$/

/** The platform of users who are registered by a wallet address (assumed). The service lists their awards under it. */
export const WALLET_PLATFORM = 'ethereum'

/** Returns the address by which wallets are compared: their letter case makes no difference. */
export const comparableAddress = (address: string): string => address.toLowerCase()
