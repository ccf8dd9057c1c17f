/** Returns a remembered choice. A browser may deny the storage: the choice then ends with the page. */
export function stored(key: string): string | undefined {
  try {
    return localStorage.getItem(key) ?? undefined
  } catch {
    return undefined
  }
}

export function store(key: string, value: string): void {
  try {
    localStorage.setItem(key, value)
  } catch {
    // See `stored`.
  }
}
