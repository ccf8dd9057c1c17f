import { useRef, useState } from 'preact/hooks'
import { PATHS } from '../../protocol.ts'
import { perform, run } from '../actions.ts'
import { ConfirmButton, ConfirmDialog } from '../parts/confirm-button.tsx'
import { Text } from '../parts/text.tsx'

/** Saves the state of the service to a file, loads a file, or resets the service. */
export function State() {
  const input = useRef<HTMLInputElement>(null)
  const dialog = useRef<HTMLDialogElement>(null)
  const [file, setFile] = useState<File>()
  const choose = (files: FileList | null) => {
    if (!files?.[0]) return
    setFile(files[0])
    dialog.current?.showModal()
    // Without this, choosing the same file again fires no event.
    if (input.current) input.current.value = ''
  }
  const load = async () => {
    if (!file) return
    await run(
      async () => perform('loadSeed', { seed: parse(await file.text()) }),
      ({ unsigned }) => {
        const missing = `Enter the secret of ${unsigned.join(', ')} to sign its messages.`
        return `${file.name} was loaded. ${unsigned.length > 0 ? missing : ''}`
      },
    )
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
        onChange={({ currentTarget }) => choose(currentTarget.files)}
        aria-label="Seed file"
      />
      <ConfirmDialog dialog={dialog} question="Load this seed?" yes="Load it" no="Cancel" onConfirm={load}>
        <Text>{file?.name ?? ''}</Text> replaces campaigns, users, awards and webhooks. Requests, deliveries and faults
        are removed, and the clock goes back to now. A webhook keeps its secret only if the seed has a webhook with the
        same ID.
      </ConfirmDialog>
      <ConfirmButton
        label="Reset"
        class="small"
        question="Reset the service?"
        yes="Reset everything"
        no="Cancel"
        onConfirm={() => run(() => perform('reset', {}), 'The service was reset.')}
      >
        This removes progress, awards, requests, deliveries, faults, and the webhooks and secrets that you entered. The
        service is again as <code>dev</code> started it. The clock goes back to now.
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
