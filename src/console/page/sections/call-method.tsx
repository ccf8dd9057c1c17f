import { useState } from 'preact/hooks'
import type { Argument } from '../../../endpoints/arguments.ts'
import type { MethodView } from '../../protocol.ts'
import { perform, useAction } from '../actions.ts'
import { refresh, service } from '../live.ts'
import { Field, Form } from '../parts/form.tsx'
import { AbsentItem, Item } from '../parts/panel.tsx'
import { safe } from '../parts/text.tsx'
import { go, pathOf } from '../route.ts'

/** The arguments of a request. */
type Given = Readonly<Record<string, unknown>>

/** The path of the form; with the arguments of a request if its key is given. */
export const callPath = (key?: string): string => pathOf('requests', 'call', ...(key === undefined ? [] : [key]))

/** A form that calls a method of the service, as your code does. With a key, it begins with the arguments of that request. */
export function CallMethod({ requestKey: key }: { requestKey: string | undefined }) {
  const listed = useAction('listMethods', {}, undefined)
  const read = useAction('readRequest', key === undefined ? undefined : { key }, undefined)
  const [chosen, choose] = useState<string>()
  const [methods, request] = [listed.value, read.value]
  const first = key === undefined ? 'getUserProgress' : request?.given && request.operation
  const method = methods?.find(({ name }) => name === (chosen ?? first))
  const action = key === undefined ? 'Try a call' : 'Edit and send'
  if (!methods || !method) {
    const reason = methods && request && 'The client has no method for this request.'
    return <AbsentItem title={action} back="/requests" error={listed.error ?? read.error ?? reason} />
  }
  const title = key === undefined ? action : `${action} ${first}`
  const { name } = method
  const given = name === first ? request?.given : undefined
  const names = method.arguments.map((argument) => argument.name)
  const unknown = Object.keys(given ?? {}).filter((each) => !names.includes(each))
  const send = async (values: Readonly<Record<string, string>>) => {
    const { key } = await perform('callMethod', { name, given: enteredArguments(method, values) })
    await refresh()
    go(pathOf('requests', key))
  }
  return (
    <Item title={title} back="/requests">
      <Form label={title} submit="Send" onSubmit={send}>
        <Field
          name="method"
          label="Method"
          value={name}
          onChange={choose}
          options={methods.map((each) => [each.name, each.name])}
          hint={<code>{`${method.method} /${method.path}`}</code>}
        />
        {method.arguments.map((argument) => (
          <Field
            key={`${name} ${argument.name}`}
            name={argument.name}
            label={argument.isOptional ? `${argument.name} (optional)` : argument.name}
            type={argument.isSecret ? 'password' : 'text'}
            defaultValue={firstText(argument, given)}
            placeholder={String(argument.example)}
            hint={<Described text={argument.description} />}
          />
        ))}
        {unknown.length > 0 && (
          <p class="hint">Left out, because the method has no such field: {safe(unknown.join(', '))}</p>
        )}
        <p class="hint">
          The console sends the call over HTTP, without retries, with a token that the service accepts. The request then
          shows the same call as curl and TypeScript.
        </p>
      </Form>
    </Item>
  )
}

/** Returns the text of a field before it is edited. The log of the service has no secrets. */
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
