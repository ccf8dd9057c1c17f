import { useRef } from 'preact/hooks'
import { PATHS } from '../../protocol.ts'
import { attempt, perform, tell } from '../actions.ts'
import { ConfirmButton } from '../parts/confirm-button.tsx'

/** Saves the state of the service to a file, loads one, or goes back to the start. */
export function State() {
  const file = useRef<HTMLInputElement>(null)
  const load = async () => {
    const input = file.current
    const chosen = input?.files?.[0]
    if (!input || !chosen) return
    let unsigned: readonly string[] = []
    const isLoaded = await attempt(async () => {
      ;({ unsigned } = await perform('loadSeed', { seed: parse(await chosen.text()) }))
    }, `${chosen.name} is loaded.`)
    if (isLoaded && unsigned.length > 0) {
      tell(
        `${chosen.name} is loaded without the secret of ${unsigned.join(', ')}. Enter it to sign messages again.`,
        true,
      )
    }
    input.value = ''
  }
  return (
    <div class="state-actions">
      <a class="button small" href={PATHS.seed} download="campaign-seed.json">
        Save seed
      </a>
      <button type="button" class="small" onClick={() => file.current?.click()}>
        Load seed
      </button>
      <input ref={file} type="file" accept=".json,application/json" hidden onChange={load} aria-label="Seed file" />
      <ConfirmButton
        label="Reset"
        class="small"
        question="Go back to the start?"
        yes="Reset everything"
        no="Cancel"
        onConfirm={() => attempt(() => perform('reset', {}), 'The service is back at its start.')}
      >
        Progress, awards, requests, deliveries and faults are removed. The clock goes back to now.
      </ConfirmButton>
    </div>
  )
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new Error('The file is not JSON.')
  }
}
