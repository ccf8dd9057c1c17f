import { readdirSync, readFileSync } from 'node:fs'

const FOLDER = new URL('../../examples/', import.meta.url)

/** A page of the site for each program of the folder `examples`. */
export default {
  paths: () =>
    readdirSync(FOLDER)
      .filter((file) => file.endsWith('.ts'))
      .map((file) => ({
        params: { name: file.replace(/\.ts$/, '') },
        content: `# ${file}\n\n\`\`\`ts\n${readFileSync(new URL(file, FOLDER), 'utf8')}\`\`\`\n`,
      })),
}
