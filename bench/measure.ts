/** Child process: measures one subject and sends the result to the parent. */
const [, , subject, rivalIndex] = process.argv
const { default: measure } = await import(new URL(`./${subject}.mjs`, import.meta.url).href)
process.send?.(await measure(Number(rivalIndex)))
process.disconnect?.()
