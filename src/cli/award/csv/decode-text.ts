import { isUtf8 } from 'node:buffer'
import { usageFailure } from '../../failure.ts'

/**
 * Decodes a CSV file in UTF-8, or in UTF-16 with a byte order mark ("Unicode Text" in Excel).
 *
 * @param name - of the file, for messages
 * @throws CommandFailure for any other file
 */
export function decodeText(bytes: Uint8Array, name: string): string {
  const starts = (...start: number[]): boolean => start.every((byte, index) => bytes[index] === byte)
  if (starts(0x50, 0x4b, 0x03, 0x04) || starts(0xd0, 0xcf, 0x11, 0xe0)) {
    throw usageFailure(`${name} is a workbook, not a CSV file`, SAVE_AS)
  }
  const encoding = starts(0xff, 0xfe) ? 'utf-16le' : starts(0xfe, 0xff) ? 'utf-16be' : 'utf-8'
  let text: string
  try {
    text = new TextDecoder(encoding, { fatal: true }).decode(bytes)
  } catch {
    const place = encoding === 'utf-8' ? `: line ${firstWrongLine(bytes)}` : ' or UTF-16'
    throw usageFailure(`${name} is not text in UTF-8${place}`, SAVE_AS)
  }
  if (text.includes('\0')) throw usageFailure(`${name} contains NUL characters: it is not a CSV file`, SAVE_AS)
  return text
}

const SAVE_AS = 'save the sheet as "CSV UTF-8"'
const LINE_FEED = 0x0a

function firstWrongLine(bytes: Uint8Array): number {
  let start = 0
  for (let line = 1; ; line++) {
    const end = bytes.indexOf(LINE_FEED, start)
    if (end === -1 || !isUtf8(bytes.subarray(start, end))) return line
    start = end + 1
  }
}
