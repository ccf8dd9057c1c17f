/** Measures one subject in a process of its own and hands the result to the parent. */
const { default: measure } = await import(new URL(`./${process.argv[2]}.mjs`, import.meta.url).href)
process.send?.(await measure())
process.disconnect?.()
