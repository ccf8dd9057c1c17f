import { readdirSync, readFileSync } from 'node:fs'

const FOLDER = new URL('../../examples/', import.meta.url)

/** A page of the site for each program of the folder `examples`. */
export default {
  paths: () =>
    readdirSync(FOLDER)
      .filter((file) => file.endsWith('.ts'))
      .map((file) => {
        const source = readFileSync(new URL(file, FOLDER), 'utf8')
        const description = firstParagraph(source)
        const content = `# ${file}\n\n${description}\n\n\`\`\`ts\n${source}\`\`\`\n`
        return { params: { name: file.replace(/\.ts$/, ''), description }, content }
      }),
}

/** The first paragraph of the first comment. */
function firstParagraph(source: string): string {
  const [, comment = ''] = /^\/\*\*\n([\s\S]*?)\n \*(?:\n|\/)/.exec(source) ?? []
  return comment
    .replaceAll(/^ \* ?/gm, '')
    .replaceAll('\n', ' ')
    .replace(/:$/, '.')
}
