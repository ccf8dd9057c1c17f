import type { DocumentReflection } from 'typedoc'

/**
 * The signature of a method is no program, so its page calls it text; it is read as TypeScript all the same. A line for each
 * argument fits the page.
 */
export function colourSignature(page: DocumentReflection): void {
  for (const part of page.content) {
    if (part.kind !== 'code') continue
    part.text = part.text.replace(
      /^```text\n(client\.\w+\()(.+), (options\?: \w+)(\).*)/,
      (_, call: string, request: string, options: string, result: string) =>
        `\`\`\`ts\n${call}\n  ${request},\n  ${options},\n${result}`,
    )
  }
}
