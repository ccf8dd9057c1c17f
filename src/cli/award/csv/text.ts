import { isUtf8 } from 'node:buffer'
import { TextDecoder } from 'node:util'
import { usageFailure } from '../../exit.ts'
import { inputName } from '../../files.ts'

const LINE_FEED = 0x0a

/** The blocks of a text file as UTF-8 without a byte order mark, whichever encoding a spreadsheet chose. */
export async function* textBlocks(name: string, blocks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let decoder: TextDecoder | undefined
  let line = 1
  let isFirst = true
  for await (const block of blocks) {
    decoder ??= decoderFor(name, block)
    const isUtf8File = decoder.encoding === 'utf-8'
    let text = ''
    try {
      text = decoder.decode(block, { stream: true })
    } catch {
      throw notText(name, isUtf8File ? line + wrongLine(block, isFirst) : undefined)
    }
    if (text.includes('\0')) throw hasNul(name)
    // A character may be cut off at the end of a block: of UTF-8 the bytes go on as they came.
    if (!isUtf8File) yield Buffer.from(text)
    else yield isFirst && startsWith(block, 0xef, 0xbb, 0xbf) ? block.subarray(3) : block
    line += isUtf8File ? lineFeeds(block) : 0
    isFirst = false
  }
  try {
    decoder?.decode()
  } catch {
    throw notText(name, decoder?.encoding === 'utf-8' ? line : undefined)
  }
}

const startsWith = (block: Buffer, ...bytes: number[]): boolean => bytes.every((byte, index) => block[index] === byte)

function decoderFor(name: string, block: Buffer): TextDecoder {
  if (startsWith(block, 0x50, 0x4b, 0x03, 0x04) || startsWith(block, 0xd0, 0xcf, 0x11, 0xe0)) {
    throw usageFailure(`${inputName(name)} is a workbook, not a CSV`, 'save the sheet as "CSV UTF-8"')
  }
  // Excel writes "Unicode Text" so.
  const encoding = startsWith(block, 0xff, 0xfe) ? 'utf-16le' : startsWith(block, 0xfe, 0xff) ? 'utf-16be' : 'utf-8'
  return new TextDecoder(encoding, { fatal: true })
}

function lineFeeds(block: Buffer): number {
  let count = 0
  for (let at = block.indexOf(LINE_FEED); at !== -1; at = block.indexOf(LINE_FEED, at + 1)) count++
  return count
}

/** How many lines after the beginning of the block the wrong bytes are. */
function wrongLine(block: Buffer, isFirst: boolean): number {
  let start = 0
  // A block may begin in the middle of a character.
  while (!isFirst && start < 3 && ((block[start] ?? 0) & 0xc0) === 0x80) start++
  for (let count = 0; ; count++) {
    const end = block.indexOf(LINE_FEED, start)
    if (end === -1 || !isUtf8(block.subarray(start, end))) return count
    start = end + 1
  }
}

const notText = (name: string, line: number | undefined): Error =>
  usageFailure(
    `${inputName(name)} is not text in UTF-8${line === undefined ? ' or UTF-16' : `: line ${line}`}`,
    'save it as "CSV UTF-8"',
  )

const hasNul = (name: string): Error =>
  usageFailure(`${inputName(name)} holds NUL characters: it is not a CSV`, 'save the sheet as "CSV UTF-8"')
