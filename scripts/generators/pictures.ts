import { readdirSync } from 'node:fs'
import { extname } from 'node:path'
import { pathTo, read } from '../repository.ts'
import { drawSequence } from '../sequence-picture.ts'
import { drawTerminal } from '../terminal-picture.ts'
import type { Generator } from './generator.ts'

const FOLDER = 'docs/pictures'

/** By the ending of the text that a picture is drawn from. */
const DRAWN: Readonly<Record<string, (text: string) => string>> = { '.txt': drawSequence, '.terminal': drawTerminal }

/** The pictures that are drawn from a text beside them. */
export const pictures: Generator = {
  name: 'pictures',
  generate: () =>
    new Map(
      readdirSync(pathTo(FOLDER)).flatMap((name) => {
        const draw = DRAWN[extname(name)]
        const text = `${FOLDER}/${name}`
        return draw === undefined ? [] : [[text.replace(/\.\w+$/, '.svg'), draw(read(text))] as const]
      }),
    ),
}
