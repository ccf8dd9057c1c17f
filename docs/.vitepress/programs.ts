import type { MarkdownRenderer } from 'vitepress'
import { linesOf } from '../../scripts/generators/recipes.ts'
import { read } from '../../scripts/repository.ts'

/**
 * Completes each sample that shows part of a program. The page has the whole file, so that the copy button copies a program that
 * runs, and hides the other lines until the reader opens them. The search index contains the sample only.
 */
export function completePrograms(md: MarkdownRenderer): void {
  const { fence } = md.renderer.rules
  md.renderer.rules.fence = (tokens, index, options, env, self) => {
    const token = tokens[index]
    const [, file, names] = /compile: it is (examples\/[\w.-]+): (.+)/.exec(token?.info ?? '') ?? []
    if (token === undefined || file === undefined || names === undefined || env.isForSearch) {
      return fence?.(tokens, index, options, env, self) ?? ''
    }
    token.content = read(file)
    const isShown = linesOf(token.content, names)
    const html = fence?.(tokens, index, options, env, self) ?? ''
    const folded = html.replace(/(<code[^>]*>)([\s\S]*?)(?=<\/code>)/, (_, start: string, code: string) => {
      const lines = code.split('\n').map((line, number) => {
        const text = `${line}\n`
        return isShown.has(number) ? text : `<span class="folded">${text}</span>`
      })
      return `${start}${lines.join('')}`
    })
    return `<div class="program">${folded}<details><summary>Show the whole file, ${file}</summary></details></div>`
  }
}
