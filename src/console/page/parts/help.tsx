import { useId } from 'preact/hooks'

const SEARCH = [
  ['linus 500', 'rows that contain both words; bodies are searched, too'],
  ['"user not found"', 'words that stand together'],
  ['status:500', 'responses with this status; also status:5xx and status:none'],
  ['user:ada', 'calls and messages about a user'],
  ['operation:rewardWallet', 'calls of a method, or messages of a type'],
  ['is:failed', 'calls without success; deliveries with a failed attempt'],
  ['is:retried', 'calls and deliveries with more than one attempt'],
] as const

const KEYS = [
  ['/', 'search'],
  ['j k ↓ ↑', 'next and previous row'],
  ['Enter', 'open the row'],
  ['Escape', 'close the open item'],
  ['?', 'this help'],
] as const

const ID = 'help'

export const openHelp = (): void => (document.getElementById(ID) as HTMLDialogElement | null)?.showModal()

export const HelpButton = () => (
  <button type="button" class="small" aria-label="Help on search and keys" onClick={openHelp}>
    ?
  </button>
)

/** The words of a search, and the keys of the page. */
export function Help() {
  const title = useId()
  return (
    <dialog id={ID} class="help" aria-labelledby={title}>
      <form method="dialog" class="panel-head">
        <h2 id={title}>Search and keys</h2>
        <button type="submit" class="small">
          Close
        </button>
      </form>
      {[SEARCH, KEYS].map((lines) => (
        <dl class="facts" key={lines[0][0]}>
          {lines.map(([words, effect]) => (
            <div key={words}>
              <dt>
                <code>{words}</code>
              </dt>
              <dd>{effect}</dd>
            </div>
          ))}
        </dl>
      ))}
    </dialog>
  )
}
