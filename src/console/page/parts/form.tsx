import { type ComponentChildren, createContext } from 'preact'
import { useContext, useEffect, useId, useRef, useState } from 'preact/hooks'
import { Problem } from '../../protocol.ts'
import { messageOf } from '../actions.ts'
import { safe } from './text.tsx'

const ProblemContext = createContext<Problem | undefined>(undefined)

interface FormProps<Name extends string> {
  readonly label: string
  /** Whether the fields stand beside each other. */
  readonly isInline?: boolean
  /** Text of the button. */
  readonly submit: string
  /** Why the form can't be submitted. */
  readonly obstacle?: string | false
  /** Gets the values of the fields. The form shows an error at its field or at the end. */
  readonly onSubmit: (values: Readonly<Record<Name, string>>) => Promise<unknown>
  readonly children: ComponentChildren
  readonly result?: ComponentChildren
}

/** A form whose fields keep their values after the action. */
export function Form<Name extends string>({ label, isInline, submit, obstacle, ...props }: FormProps<Name>) {
  const form = useRef<HTMLFormElement>(null)
  const [problem, setProblem] = useState<Problem>()
  const onSubmit = async (event: Event) => {
    event.preventDefault()
    const values = Object.fromEntries(new FormData(form.current ?? undefined)) as Record<Name, string>
    try {
      await props.onSubmit(values)
      setProblem(undefined)
      // What was submitted is not lost when the form is closed.
      for (const field of fieldsOf(form.current)) field.defaultValue = field.value
    } catch (error) {
      setProblem(error instanceof Problem ? error : new Problem(messageOf(error)))
    }
  }
  useEffect(() => form.current?.querySelector<HTMLElement>('[aria-invalid=true]')?.focus(), [problem])
  return (
    <form class={isInline ? 'flow inline' : 'form'} ref={form} aria-label={label} noValidate onSubmit={onSubmit}>
      <ProblemContext.Provider value={problem}>{props.children}</ProblemContext.Provider>
      <div class="flow buttons">
        <button type="submit" class="primary" disabled={Boolean(obstacle)}>
          {submit}
        </button>
        {obstacle && <span class="needs">{obstacle}</span>}
      </div>
      {problem && problem.field === undefined && <Alert class="callout" text={problem.message} />}
      {props.result}
    </form>
  )
}

const Alert = ({ text, class: name }: { text: string; class: string }) => (
  <p class={name} role="alert">
    {safe(text)}
  </p>
)

const fieldsOf = (form: HTMLFormElement | null): HTMLInputElement[] => [
  ...(form?.querySelectorAll<HTMLInputElement>('input:not([type=checkbox]), textarea') ?? []),
]

/** Whether a form has text that was typed and not submitted. */
export const hasUnsentText = (form: HTMLFormElement): boolean =>
  fieldsOf(form).some((field) => field.value !== field.defaultValue)

interface FieldProps {
  /** The name of the field in the values of the form and in errors of the server. */
  readonly name: string
  readonly label: string
  readonly hint?: ComponentChildren
  readonly defaultValue?: string
  readonly placeholder?: string
  readonly type?: 'text' | 'number' | 'password'
  /** Number of lines; absent for a field of one line. */
  readonly rows?: number
  /** The choices of a field that is not typed. */
  readonly options?: readonly (readonly [value: string, text: string])[]
  /** The selected option. If absent, the browser keeps the user's choice. */
  readonly value?: string
  readonly onChange?: (value: string) => void
}

/** A control with its label, its hint and its error. */
export function Field({ name, label, hint, type = 'text', rows, options, onChange, ...more }: FieldProps) {
  const id = useId()
  const problem = useContext(ProblemContext)
  const error = problem?.field === name ? problem.message : undefined
  const props = {
    ...{ id, name, 'aria-describedby': `${id}-notes`, 'aria-invalid': error === undefined ? undefined : true, ...more },
    ...{ spellcheck: false, autocomplete: 'off' },
  } as const
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {options ? (
        <select {...props} onChange={({ currentTarget }) => onChange?.(currentTarget.value)}>
          {options.map(([value, text]) => (
            <option key={value} value={value} label={text} />
          ))}
        </select>
      ) : rows === undefined ? (
        <input {...props} type={type as 'text'} />
      ) : (
        <textarea {...props} rows={rows} />
      )}
      <div id={`${id}-notes`} class="hint">
        {error !== undefined && <Alert class="danger" text={error} />}
        {hint}
      </div>
    </div>
  )
}
