import { useRef } from 'preact/hooks'
import { PATHS } from '../../protocol.ts'
import { perform, run } from '../actions.ts'
import { ConfirmButton } from '../parts/confirm-button.tsx'

/** Saves the state of the service to a file, loads a file, or resets the service. */
export function State() {
  const input = useRef<HTMLInputElement>(null)
  const load = async (files: FileList | null) => {
    const file = files?.[0]
    if (!file) return
    await run(
      async () => perform('loadSeed', { seed: parse(await file.text()) }),
      ({ unsigned }) => {
        const missing = `Enter the secret of ${unsigned.join(', ')} to sign its messages.`
        return `${file.name} was loaded. ${unsigned.length > 0 ? missing : ''}`
      },
    )
    // Without this, choosing the same file again fires no event.
    if (input.current) input.current.value = ''
  }
  return (
    <div class="state-actions">
      <a class="button small" href={PATHS.seed} download="campaign-seed.json">
        Save seed
      </a>
      <button type="button" class="small" onClick={() => input.current?.click()}>
        Load seed
      </button>
      <input
        ref={input}
        type="file"
        accept=".json,application/json"
        hidden
        onChange={({ currentTarget }) => load(currentTarget.files)}
        aria-label="Seed file"
      />
      <ConfirmButton
        label="Reset"
        class="small"
        question="Reset the service?"
        yes="Reset everything"
        no="Cancel"
        onConfirm={() => run(() => perform('reset', {}), 'The service was reset.')}
      >
        This removes progress, awards, requests, deliveries and faults. The clock goes back to now.
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
