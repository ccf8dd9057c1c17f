const SHOWN_MS = 1500

/** Every block of code can be copied. Where there is no clipboard the code is selected instead. */
export function offerToCopy(): void {
  document.addEventListener('click', async ({ target }) => {
    if (!(target instanceof HTMLButtonElement) || !target.classList.contains('copy')) return
    const code = target.parentElement?.querySelector('code')
    if (!code) return
    try {
      await navigator.clipboard.writeText(code.innerText.trimEnd())
      target.textContent = 'Copied'
    } catch {
      getSelection()?.selectAllChildren(code)
      target.textContent = 'Selected'
    }
    setTimeout(() => {
      target.textContent = 'Copy'
    }, SHOWN_MS)
  })
}
