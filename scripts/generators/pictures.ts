import { readdirSync } from 'node:fs'
import { pathTo, read } from '../repository.ts'
import { drawSequence } from '../sequence-picture.ts'
import type { Generator } from './generator.ts'

const FOLDER = 'docs/pictures'

/** The pictures that are drawn from a text beside them. */
export const pictures: Generator = {
  name: 'pictures',
  generate: () =>
    new Map(
      readdirSync(pathTo(FOLDER))
        .filter((name) => name.endsWith('.txt'))
        .map((name) => [`${FOLDER}/${name.replace(/\.txt$/, '.svg')}`, drawSequence(read(`${FOLDER}/${name}`))]),
    ),
}
