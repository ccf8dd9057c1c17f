import { existsSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { Element } from 'domhandler'
import { DomUtils, parseDocument } from 'htmlparser2'
import { pathTo } from '../../repository.ts'
import { drawNarrowSequence } from '../../sequence-picture.ts'
import { chartRows } from './chart-rows.ts'

/**
 * Puts drawings into the page itself, where they take the colours of its theme; alone, in an `img`, they could only follow the
 * system. Photographs are given their size, so that nothing moves when they arrive.
 */
export function inlinePictures(content: Element): void {
  for (const image of DomUtils.getElementsByTagName('img', content)) {
    const file = pictureFile(image.attribs.src)
    if (file.endsWith('.svg')) DomUtils.replaceElement(enclosing(image), drawing(file, image.attribs.alt ?? ''))
    else if (file.endsWith('.webp')) Object.assign(image.attribs, sizeOfWebp(file), { loading: 'lazy' })
  }
  for (const picture of DomUtils.getElementsByTagName('picture', content)) followTheme(picture)
}

const pictureFile = (address = ''): string => pathTo(`docs/pictures/${basename(address)}`)

/** A `picture` follows the system only. In its place come both images, of which the styles show the one of the theme. */
function followTheme(picture: Element): void {
  const [source] = DomUtils.getElementsByTagName('source', picture)
  const [light] = DomUtils.getElementsByTagName('img', picture)
  if (source === undefined || light === undefined) throw new Error('a picture without its two images')
  const src = join(dirname(light.attribs.src ?? ''), basename(source.attribs.srcset ?? ''))
  const dark = light.cloneNode()
  Object.assign(dark.attribs, sizeOfWebp(pictureFile(src)), { src, class: 'when-dark' })
  light.attribs.class = 'when-light'
  DomUtils.replaceElement(picture, light)
  DomUtils.append(light, dark)
}

/** The paragraph, if the picture is all that it has. */
function enclosing(image: Element): Element {
  const { parent } = image
  return parent !== null && 'name' in parent && parent.children.length === 1 ? (parent as Element) : image
}

/** The colours that drawings have as files, and the ones of the theme in their place. */
const COLOURS: Readonly<Record<string, string>> = {
  '#1f2933': 'ink',
  '#52606d': 'soft',
  '#24507a': 'strong',
  '#5b9bd5': 'ours',
  '#9fc3e6': 'busy',
  '#b3bcc6': 'bar',
  '#9aa5b1': 'line',
  '#e4e7eb': 'faint',
  '#fff3c4': 'note',
  '#e0c35a': 'note-line',
  '#b42318': 'bad',
  '#cbd2d9': 'frame',
  '#fbfcfd': 'paper',
  '#fff': 'inverse',
}

/** Sequences come twice: for a narrow screen they are drawn once more from their text. */
function drawing(file: string, description: string): Element {
  const name = `picture-${basename(file, '.svg')}`
  const wide = inlined(readFileSync(file, 'utf8'), name)
  const rows = chartRows(wide)
  if (rows !== '') return figure(name, 'picture chart', description, [...parse(rows)])
  const text = file.replace(/\.svg$/, '.txt')
  if (!existsSync(text)) return figure(name, 'picture', description, [wide])
  wide.attribs.class = 'wide'
  const narrow = inlined(drawNarrowSequence(readFileSync(text, 'utf8')), `${name}-narrow`)
  narrow.attribs.class = 'narrow'
  return figure(name, 'picture sequence', description, [wide, narrow])
}

function figure(name: string, kind: string, description: string, children: readonly Element[]): Element {
  const [element] = parse(
    `<figure class="${kind}" id="${name}" tabindex="0" role="group" aria-label="${description}"></figure>`,
  )
  if (element === undefined) throw new Error(`${name} has no place`)
  for (const child of children) DomUtils.appendChild(element, child)
  return element
}

/** Its rules hold for itself alone: several drawings of a page use the same names of classes. */
function inlined(source: string, name: string): Element {
  const [svg] = parse(
    source
      .trim()
      .replaceAll('id="title"', `id="${name}-title"`)
      .replaceAll('aria-labelledby="title"', `id="${name}-drawing" aria-labelledby="${name}-title"`)
      .replace(
        /<style>([\s\S]*?)<\/style>/,
        (_, rules: string) =>
          `<style>#${name}-drawing {${rules.replaceAll(/#[0-9a-f]{3,6}\b/g, (colour) => `var(--picture-${COLOURS[colour] ?? 'ink'})`)}}</style>`,
      ),
  )
  if (svg === undefined) throw new Error(`${name} is empty`)
  return svg
}

const parse = (html: string): Element[] =>
  parseDocument(html, { xmlMode: true, decodeEntities: false }).children as Element[]

/** Width and height of a lossless one stand behind its signature, 14 bits each, less one. */
function sizeOfWebp(file: string): { width: string; height: string } {
  const bytes = readFileSync(file)
  if (bytes.toString('latin1', 12, 16) !== 'VP8L') throw new Error(`${file} is not a lossless WebP`)
  const bits = bytes.readUInt32LE(21)
  return { width: String((bits & 0x3fff) + 1), height: String(((bits >> 14) & 0x3fff) + 1) }
}
