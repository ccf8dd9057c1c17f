/** Child process: measures one subject and sends the result to the parent. */
const [, , subject, rival] = process.argv
const { default: measure } = await import(new URL(`./${subject}.mjs`, import.meta.url).href)
process.send?.(await measure(Number(rival)))
process.disconnect?.()
