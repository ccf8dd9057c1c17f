import { useState } from 'preact/hooks'
import type { Argument } from '../../../endpoints/arguments.ts'
import type { OperationName } from '../../../endpoints/index.ts'
import type { MethodView } from '../../protocol.ts'
import { perform, useAction } from '../actions.ts'
import { refresh, service } from '../live.ts'
import { Form, SelectField, TextField } from '../parts/form.tsx'
import { AbsentItem, Item } from '../parts/panel.tsx'
import { Text } from '../parts/text.tsx'
import { go, pathOf } from '../route.ts'

/** The arguments of a request. */
type Given = Readonly<Record<string, unknown>>

/** The path of the form; with the arguments of a request if its key is given. */
export const callPath = (key?: string): string => pathOf('requests', 'call', ...(key === undefined ? [] : [key]))

/** A form that calls a method of the service, as your code does. */
export function CallMethod() {
  const { value: methods, error } = useAction('listMethods', {}, undefined)
  if (!methods) return <AbsentItem title="Try a call" back="/requests" error={error} />
  return <CallForm title="Try a call" methods={methods} first="getUserProgress" />
}

/** The form with the arguments of a request. */
export function RepeatCall({ requestKey: key }: { requestKey: string }) {
  const { value: methods } = useAction('listMethods', {}, undefined)
  const { value: request, error } = useAction('readRequest', { key }, undefined)
  const repeated = methods?.find(({ name }) => name === request?.operation)
  if (!methods || !request) return <AbsentItem title="Edit and send" back="/requests" error={error} />
  if (!repeated || !request.given) {
    return <AbsentItem title="Edit and send" back="/requests" error="The client has no method for this request." />
  }
  return (
    <CallForm title={`Edit and send ${repeated.name}`} methods={methods} first={repeated.name} given={request.given} />
  )
}

interface CallFormProps {
  readonly title: string
  readonly methods: readonly MethodView[]
  /** The method that is selected at first. */
  readonly first: OperationName
  /** The arguments of the first method. @defaultValue the example of each argument */
  readonly given?: Given
}

function CallForm({ title, methods, first, given }: CallFormProps) {
  const [name, setName] = useState(first)
  const method = methods.find((each) => each.name === name) as MethodView
  const send = async (values: Readonly<Record<string, string>>) => {
    const { key } = await perform('callMethod', { name, given: enteredArguments(method, values) })
    await refresh()
    go(pathOf('requests', key))
  }
  return (
    <Item title={title} back="/requests">
      <Form class="form" label={title} submit="Send" onSubmit={send}>
        <SelectField
          name="method"
          label="Method"
          value={name}
          onChange={(value) => setName(value as OperationName)}
          options={methods.map((each) => [each.name, each.name])}
        />
        <p class="hint">
          <code>
            {method.method} /{method.path}
          </code>
        </p>
        <ArgumentFields key={name} method={method} given={name === first ? given : undefined} />
        <p class="hint">
          The console sends the call over HTTP, without retries, with a token that the service accepts. The request then
          shows the same call as curl and TypeScript.
        </p>
      </Form>
    </Item>
  )
}

function ArgumentFields({ method, given }: { method: MethodView; given: Given | undefined }) {
  const names = method.arguments.map(({ name }) => name)
  const unknown = Object.keys(given ?? {}).filter((name) => !names.includes(name))
  return (
    <>
      {method.arguments.map((argument) => (
        <TextField
          key={argument.name}
          name={argument.name}
          label={argument.isOptional ? `${argument.name} (optional)` : argument.name}
          type={argument.isSecret ? 'password' : 'text'}
          defaultValue={firstText(argument, given)}
          placeholder={String(argument.example)}
          hint={<Described text={argument.description} />}
        />
      ))}
      {unknown.length > 0 && (
        <p class="hint">
          Left out, because the method has no such field: <Text>{unknown.join(', ')}</Text>
        </p>
      )}
    </>
  )
}

/** Returns the text of a field before the user changes it. The log of the service has no secrets. */
function firstText({ name, example, isOptional, isSecret }: Argument, given: Given | undefined): string {
  if (isSecret) return ''
  if (given === undefined) return isOptional ? '' : defaultOf(name, example)
  const value = given[name] ?? ''
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** The example; for the campaign, one that the service has. */
function defaultOf(name: string, example: string | number): string {
  const { campaigns } = service.value
  const known = name !== 'pid' || campaigns.some(({ pid }) => pid === example)
  return known ? String(example) : (campaigns[0]?.pid ?? '')
}

/** Reads the fields of the form. An empty optional field is not sent. The server reports a text that is not a number. */
function enteredArguments({ arguments: fields }: MethodView, values: Readonly<Record<string, string>>): Given {
  const sent = fields.flatMap(({ name, isNumber, isOptional }) => {
    const text = values[name] ?? ''
    if (text === '' && isOptional) return []
    const number = Number(text)
    return [[name, isNumber && text.trim() !== '' && Number.isFinite(number) ? number : text] as const]
  })
  return Object.fromEntries(sent)
}

/** A description, with code between backticks. */
const Described = ({ text }: { text: string }) => (
  <>{text.split('`').map((part, index) => (index % 2 === 1 ? <code key={part}>{part}</code> : part))}</>
)
