import { type Element, Text } from 'domhandler'
import { DomUtils, parseDocument } from 'htmlparser2'

/** Spaces and brackets look the same in any colour, and each would cost an element. */
const NO_COLOUR = /^[\s{}()[\],:;.]*$/

/** Puts each block of code into a frame of its own, so that it scrolls and the button to copy it stays. */
export function frameCode(content: Element): void {
  for (const block of DomUtils.getElementsByTagName('pre', content)) {
    const button = DomUtils.findOne(({ name }) => name === 'button', block.children)
    if (button !== null) DomUtils.removeElement(button)
    block.attribs.tabindex = '0'
    for (const part of DomUtils.getElementsByTagName('span', block)) {
      if (NO_COLOUR.test(DomUtils.textContent(part)))
        DomUtils.replaceElement(part, new Text(DomUtils.textContent(part)))
    }
    const language = DomUtils.findOne(({ name }) => name === 'code', block.children)?.attribs.class ?? ''
    const [frame] = parseDocument(
      `<div class="code" data-language="${language}"><button type="button" class="copy">Copy</button></div>`,
    ).children as Element[]
    if (frame === undefined) throw new Error('no frame')
    DomUtils.replaceElement(block, frame)
    DomUtils.prependChild(frame, block)
  }
  // Signatures scroll as well; whoever has only a keyboard must reach them.
  for (const signature of DomUtils.getElementsByClassName('tsd-signature', content)) signature.attribs.tabindex = '0'
}
