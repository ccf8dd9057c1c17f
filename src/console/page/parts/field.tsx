import type { ComponentChildren } from 'preact'
import { useId } from 'preact/hooks'

interface FieldProps {
  readonly label: string
  readonly hint?: string
  /** The control, given its id and that of the hint. */
  readonly children: (ids: { id: string; 'aria-describedby'?: string }) => ComponentChildren
}

/** A control with its label, and a hint where there is one. */
export function Field({ label, hint, children }: FieldProps) {
  const id = useId()
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children({ id, ...(hint !== undefined && { 'aria-describedby': `${id}-hint` }) })}
      {hint !== undefined && (
        <p class="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
    </div>
  )
}

interface TextFieldProps {
  readonly label: string
  readonly value: string
  readonly onInput: (value: string) => void
  readonly hint?: string
  readonly type?: 'text' | 'search' | 'number' | 'password'
  readonly placeholder?: string
  readonly required?: boolean
  readonly min?: number
  readonly max?: number
}

export const TextField = ({ label, hint, onInput, type = 'text', ...control }: TextFieldProps) => (
  <Field label={label} {...(hint !== undefined && { hint })}>
    {(ids) => (
      <input
        {...ids}
        {...control}
        {...({ type } as { type: 'text' })}
        autocomplete="off"
        spellcheck={false}
        onInput={({ currentTarget }) => onInput(currentTarget.value)}
      />
    )}
  </Field>
)

interface SelectProps {
  readonly label: string
  readonly value: string
  readonly onChange: (value: string) => void
  readonly options: readonly (readonly [value: string, text: string])[]
}

export const SelectField = ({ label, value, onChange, options }: SelectProps) => (
  <Field label={label}>
    {(ids) => (
      <select {...ids} value={value} onChange={({ currentTarget }) => onChange(currentTarget.value)}>
        {options.map(([option, text]) => (
          <option key={option} value={option}>
            {text}
          </option>
        ))}
      </select>
    )}
  </Field>
)

/** The filter above a list. */
export const SearchField = ({ label, value, onInput }: Pick<TextFieldProps, 'label' | 'value' | 'onInput'>) => (
  <input
    class="filter"
    type="search"
    aria-label={label}
    placeholder={label}
    value={value}
    autocomplete="off"
    spellcheck={false}
    onInput={({ currentTarget }) => onInput(currentTarget.value)}
  />
)
