import { keccak_256 } from '@noble/hashes/sha3.js'
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js'

/**
 * Returns whether the letter case of an address contradicts its checksum: it then may contain a typing error. An address in
 * one letter case has no checksum. https://eips.ethereum.org/EIPS/eip-55
 */
export function hasWrongChecksum(address: string): boolean {
  const digits = address.slice(2)
  const lowerCase = digits.toLowerCase()
  if (digits === lowerCase || digits === digits.toUpperCase()) return false
  const hash = bytesToHex(keccak_256(utf8ToBytes(lowerCase)))
  return [...lowerCase].some((digit, index) => {
    const isUpperCase = Number.parseInt(hash[index] ?? '', 16) >= 8
    return digits[index] !== (isUpperCase ? digit.toUpperCase() : digit)
  })
}
