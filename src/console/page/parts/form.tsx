import { type ComponentChildren, createContext } from 'preact'
import { useContext, useEffect, useId, useRef, useState } from 'preact/hooks'
import { Problem } from '../../action-requests.ts'
import { messageOf } from '../actions.ts'
import { Text } from './text.tsx'

const ProblemContext = createContext<Problem | undefined>(undefined)

interface FormProps<Name extends string> {
  readonly label: string
  readonly class?: string
  /** Text of the button at the end; absent for a form with a button of its own. */
  readonly submit?: string
  /** Performs the action with the values of the fields. The form shows an error at its field or at the end. */
  readonly onSubmit: (values: Readonly<Record<Name, string>>) => Promise<unknown>
  readonly children: ComponentChildren
}

/** A form whose fields keep their values after the action. */
export function Form<Name extends string>({ label, submit: button, onSubmit, children, ...rest }: FormProps<Name>) {
  const form = useRef<HTMLFormElement>(null)
  const [problem, setProblem] = useState<Problem>()
  const submit = async (event: Event) => {
    event.preventDefault()
    const values = Object.fromEntries(new FormData(form.current ?? undefined)) as Record<Name, string>
    try {
      await onSubmit(values)
      setProblem(undefined)
      // What was submitted is not lost when the form is closed.
      for (const field of fieldsOf(form.current)) field.defaultValue = field.value
    } catch (error) {
      setProblem(error instanceof Problem ? error : new Problem(messageOf(error)))
    }
  }
  useEffect(() => form.current?.querySelector<HTMLElement>('[aria-invalid=true]')?.focus(), [problem])
  return (
    <form {...rest} ref={form} aria-label={label} noValidate onSubmit={submit}>
      <ProblemContext.Provider value={problem}>{children}</ProblemContext.Provider>
      {button !== undefined && (
        <div class="buttons">
          <button type="submit" class="primary">
            {button}
          </button>
        </div>
      )}
      {problem && problem.field === undefined && (
        <p class="callout" role="alert">
          <Text>{problem.message}</Text>
        </p>
      )}
    </form>
  )
}

type TextControl = HTMLInputElement | HTMLTextAreaElement

const fieldsOf = (form: HTMLFormElement | null): TextControl[] => [
  ...(form?.querySelectorAll<TextControl>('input:not([type=checkbox]), textarea') ?? []),
]

/** Whether a form has text that was typed and not submitted. */
export const hasUnsentText = (form: HTMLFormElement): boolean =>
  fieldsOf(form).some((field) => field.value !== field.defaultValue)

interface FieldProps {
  /** The name of the field in the values of the form and in errors of the server. */
  readonly name: string
  readonly label: string
  readonly hint?: ComponentChildren
}

interface ControlProps {
  readonly id: string
  readonly name: string
  readonly 'aria-describedby'?: string
  readonly 'aria-invalid'?: true
}

/** A control with its label, its hint and its error. */
function Field({ name, label, hint, control }: FieldProps & { control: (props: ControlProps) => ComponentChildren }) {
  const id = useId()
  const problem = useContext(ProblemContext)
  const error = problem?.field === name ? problem.message : undefined
  const isDescribed = hint !== undefined || error !== undefined
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {control({
        id,
        name,
        ...(isDescribed && { 'aria-describedby': `${id}-notes` }),
        ...(error !== undefined && { 'aria-invalid': true }),
      })}
      <div id={`${id}-notes`}>
        {error !== undefined && (
          <p class="field-error" role="alert">
            <Text>{error}</Text>
          </p>
        )}
        {hint !== undefined && <p class="hint">{hint}</p>}
      </div>
    </div>
  )
}

interface TextFieldProps extends FieldProps {
  readonly defaultValue?: string
  readonly type?: 'text' | 'number' | 'password'
  /** Number of lines; absent for a field of one line. */
  readonly rows?: number
  readonly placeholder?: string
}

export const TextField = ({ defaultValue = '', type = 'text', rows, placeholder = '', ...field }: TextFieldProps) => (
  <Field
    {...field}
    control={(props) => {
      const shared = { ...props, defaultValue, placeholder, spellcheck: false } as const
      if (rows !== undefined) return <textarea {...shared} rows={rows} />
      return <input {...shared} {...({ type } as { type: 'text' })} autocomplete="off" />
    }}
  />
)

interface SelectFieldProps extends FieldProps {
  readonly options: readonly (readonly [value: string, text: string])[]
  /** The selected option. If absent, the browser keeps the user's choice. */
  readonly value?: string
  readonly onChange?: (value: string) => void
}

export const SelectField = ({ options, value, onChange, ...field }: SelectFieldProps) => (
  <Field
    {...field}
    control={(props) => (
      <select {...props} value={value} onChange={({ currentTarget }) => onChange?.(currentTarget.value)}>
        {options.map(([option, text]) => (
          <option key={option} value={option}>
            {text}
          </option>
        ))}
      </select>
    )}
  />
)
