/** Returns the first paragraph of a Markdown page as text of at most 160 characters; `undefined` if it has none. */
export function descriptionOf(markdown: string): string | undefined {
  const paragraphs = markdown
    .replace(/^---\n[\s\S]*?\n---\n/, '')
    .replaceAll(/^(```|:::)[\s\S]*?^\1$/gm, '')
    .split(/\n{2,}/)
  const text = paragraphs
    .find((paragraph) => /^[A-Z"`*[]/.test(paragraph.trim()))
    ?.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll(/[`*\\]/g, '')
    .replaceAll(/\s+/g, ' ')
    .trim()
  if (text === undefined || text.length <= 160) return text
  const sentence = /^.{40,159}?[.:](?= )/.exec(text)?.[0]
  return sentence ?? `${text.slice(0, 157).replace(/ \S*$/, '')} …`
}
