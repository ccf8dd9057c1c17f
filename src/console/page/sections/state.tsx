import { useRef } from 'preact/hooks'
import { PATHS } from '../../protocol.ts'
import { attempt, perform } from '../actions.ts'

/** What the service holds, kept in a file, taken from one, or set back to the start. */
export function State() {
  const file = useRef<HTMLInputElement>(null)
  const question = useRef<HTMLDialogElement>(null)
  const load = async () => {
    const input = file.current
    const chosen = input?.files?.[0]
    if (!input || !chosen) return
    await attempt(async () => perform('loadSeed', { seed: parse(await chosen.text()) }), `${chosen.name} is loaded.`)
    input.value = ''
  }
  const reset = () => {
    question.current?.close()
    return attempt(() => perform('reset', {}), 'Everything is as it was at the start.')
  }
  return (
    <div class="state">
      <a class="button small" href={PATHS.seed} download="campaign-seed.json">
        Save seed
      </a>
      <button type="button" class="small" onClick={() => file.current?.click()}>
        Load seed
      </button>
      <input ref={file} type="file" accept=".json,application/json" hidden onChange={load} aria-label="Seed file" />
      <button type="button" class="small" onClick={() => question.current?.showModal()}>
        Reset
      </button>
      <dialog ref={question} aria-labelledby="reset-title">
        <h2 id="reset-title">Start anew?</h2>
        <p>Everything that happened since the start is forgotten: progress, awards, deliveries and the log.</p>
        <div class="buttons">
          <button type="button" class="danger" onClick={reset}>
            Forget it all
          </button>
          <button type="button" onClick={() => question.current?.close()}>
            Keep it
          </button>
        </div>
      </dialog>
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
