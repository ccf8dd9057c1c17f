/** Makes calls with a fixed concurrency. */
export async function inParallel(atOnce: number, calls: number, call: () => Promise<unknown>): Promise<void> {
  let left = calls
  const worker = async (): Promise<void> => {
    while (left-- > 0) await call()
  }
  await Promise.all(Array.from({ length: atOnce }, worker))
}
