import { readdirSync } from 'node:fs'
import type { Converter, DocumentReflection } from 'typedoc'
import { pathTo, read } from '../../repository.ts'
import { addPage } from './add-page.ts'

/** A page for each program of `examples`: what it says of itself, then its code. */
export function addExamples(parent: DocumentReflection, converter: Converter): void {
  for (const name of readdirSync(pathTo('examples')).filter((file) => file.endsWith('.ts'))) {
    const { words, code } = parted(read(`examples/${name}`))
    const markdown = [`# ${name}`, words, `\`\`\`ts\n${code}\`\`\``].join('\n\n')
    addPage(converter, parent, { title: name, file: `examples/${name}`, markdown })
  }
}

/** The comment at the top of a program, as words with indented commands as code, and the rest of it. */
function parted(program: string): { words: string; code: string } {
  const [comment = '', text = ''] = /^(?:#!.*\n)?\/\*\*?([\s\S]*?)\*\/\n/.exec(program) ?? []
  const words = text
    .replaceAll(/^ ?\* ?/gm, '')
    .replaceAll(/(?:^ {2,}.+\n?)+/gm, (commands) => `\`\`\`sh\n${commands.replaceAll(/^ +/gm, '').trim()}\n\`\`\`\n`)
    .replaceAll(/@(?=\w)/g, '\\@')
    .trim()
  return { words, code: program.slice(comment.length).trimStart() }
}
