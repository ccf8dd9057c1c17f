/** A command line as one would type it into a shell. */
export const commandLine = (words: readonly string[]): string => ['npx campaign-client', ...words.map(quoted)].join(' ')

const quoted = (word: string): string => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`)
