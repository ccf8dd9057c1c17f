import { type ComponentChildren, createContext } from 'preact'
import { useContext, useEffect, useId, useRef, useState } from 'preact/hooks'
import { Problem } from '../../problem.ts'
import { messageOf } from '../actions.ts'
import { Text } from './text.tsx'

const ProblemContext = createContext<Problem | undefined>(undefined)

interface FormProps {
  readonly class?: string
  readonly label?: string
  readonly labelledBy?: string
  /** Performs the action of the form. What it throws is shown at its field, or at the end of the form. */
  readonly onSubmit: () => Promise<unknown>
  readonly children: ComponentChildren
}

/** A form that shows the error of its action where it belongs. */
export function Form({ label, labelledBy, onSubmit, children, ...rest }: FormProps) {
  const form = useRef<HTMLFormElement>(null)
  const [problem, setProblem] = useState<Problem>()
  const submit = async (event: Event) => {
    event.preventDefault()
    try {
      await onSubmit()
      setProblem(undefined)
    } catch (error) {
      setProblem(error instanceof Problem ? error : new Problem(messageOf(error)))
    }
  }
  useEffect(() => form.current?.querySelector<HTMLElement>('[aria-invalid=true]')?.focus(), [problem])
  return (
    <form {...rest} ref={form} aria-label={label} aria-labelledby={labelledBy} noValidate onSubmit={submit}>
      <ProblemContext.Provider value={problem}>{children}</ProblemContext.Provider>
      {problem && problem.field === undefined && (
        <p class="callout" role="alert">
          <Text>{problem.message}</Text>
        </p>
      )}
    </form>
  )
}

interface FieldProps {
  /** Name under which the server tells errors of the field. */
  readonly name: string
  readonly label: string
  readonly hint?: string | undefined
  /** The control, given its attributes. */
  readonly children: (attributes: {
    id: string
    'aria-describedby'?: string
    'aria-invalid'?: true
  }) => ComponentChildren
}

/** A control with its label, its hint and its error. */
export function Field({ name, label, hint, children }: FieldProps) {
  const id = useId()
  const problem = useContext(ProblemContext)
  const error = problem?.field === name ? problem.message : undefined
  const described = [hint !== undefined && `${id}-hint`, error !== undefined && `${id}-error`].filter(Boolean).join(' ')
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children({
        id,
        ...(described && { 'aria-describedby': described }),
        ...(error !== undefined && { 'aria-invalid': true }),
      })}
      {error !== undefined && (
        <p class="field-error" id={`${id}-error`} role="alert">
          <Text>{error}</Text>
        </p>
      )}
      {hint !== undefined && (
        <p class="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
    </div>
  )
}

interface TextFieldProps extends Omit<FieldProps, 'children'> {
  readonly value: string
  readonly onInput: (value: string) => void
  readonly type?: 'text' | 'number' | 'password'
  readonly placeholder?: string
}

export const TextField = ({ name, label, hint, onInput, type = 'text', ...control }: TextFieldProps) => (
  <Field name={name} label={label} hint={hint}>
    {(attributes) => (
      <input
        {...attributes}
        {...control}
        {...({ type } as { type: 'text' })}
        name={name}
        autocomplete="off"
        spellcheck={false}
        onInput={({ currentTarget }) => onInput(currentTarget.value)}
      />
    )}
  </Field>
)

interface SelectFieldProps extends Omit<FieldProps, 'children'> {
  readonly value: string
  readonly onChange: (value: string) => void
  readonly options: readonly (readonly [value: string, text: string])[]
}

export const SelectField = ({ name, label, hint, value, onChange, options }: SelectFieldProps) => (
  <Field name={name} label={label} hint={hint}>
    {(attributes) => (
      <select {...attributes} value={value} onChange={({ currentTarget }) => onChange(currentTarget.value)}>
        {options.map(([option, text]) => (
          <option key={option} value={option}>
            {text}
          </option>
        ))}
      </select>
    )}
  </Field>
)
