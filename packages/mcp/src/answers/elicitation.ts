import { isJsonObject, type JsonObject, type JsonValue } from '@hermes/contracts'
import type { Question, ToolContext } from '@hermes/contracts/tool'
import type { ElicitRequestParams, ElicitResult } from '@modelcontextprotocol/client'
import { cleanLine, cleanText } from '../tools/clean-text.js'

const MOST_FIELDS = 20
const MOST_CHOICES = 6
const MOST_TRIES = 3
/** What no server may ask for in a form, by whatever words of it. */
const SECRET =
  /passw|passphrase|pass.?code|\bpwd\b|\botp\b|one.?time.?(?:code|pass|pin|token)|recovery.?code|(?:seed|recovery).?phrase|\bcvv|\bcvc|\bssn\b|\bcredentials?\b|(?:api|private|secret|access|auth).?(?:key|token)|(?:2fa|mfa|verification|security|authenticat\w+|two.?factor).?code|\bpin.?(?:code|number)|(?:your|the) pin\b|card.?number/i
/** The name of a field says it shorter. */
const SECRET_NAME = /secret|token|\bpin\b|one.?time|credential/i
/** In a sentence it is one in capitals only: messages are pinned, too. */
const PIN = /\bPIN\b/

const DECLINE = 'Decline'
const EMPTY = 'Leave it empty'
/** What a server has in a field before anybody answers is what an empty answer means. @see SEP-1034 */
const USUAL = 'As it is: '
const [YES, NO] = ['Yes', 'No']

type Value = string | number | boolean | string[]
type Outcome =
  | { readonly type: 'value'; readonly value: Value | null }
  | { readonly type: 'over'; readonly result: ElicitResult }

/**
 * Asks the person what a server wants to know, a question for each field; each can be declined. Addresses are shown, never opened. A form that
 * wants a password, by its fields or its message, is declined unasked, and `refused` is told which field. Rejects as `ask` does.
 */
export async function elicit(
  server: string,
  params: ElicitRequestParams,
  { ask, progress }: Pick<ToolContext, 'ask' | 'progress'>,
  refused: (secret: string) => void = () => undefined,
): Promise<ElicitResult> {
  const head = `The MCP server ${server} asks: ${cleanText(params.message, 1_000)}`
  if (params.mode === 'url') return openAddress(head, params.url, ask)
  const fields = fieldsOf(params.requestedSchema)
  const secret = fields.find(([name, field]) => isSecret(name, field, params.message))
  if (secret || fields.length > MOST_FIELDS) {
    const what = secret ? `a secret (${cleanLine(secret[0], 60)})` : `${fields.length} answers at once`
    if (secret) refused(cleanLine(secret[0], 60))
    progress(`The MCP server ${server} asked for ${what}, which it may not: declined.`)
    return { action: 'decline' }
  }
  if (fields.length === 0) return agree({ question: head, choices: [YES, DECLINE], allowFreeText: false }, ask)
  const required = requiredOf(params.requestedSchema)
  const content: Record<string, Value> = {}
  for (const [name, field] of fields) {
    const requested = await askField(head, { name, field, isRequired: required.includes(name) }, ask)
    if (requested.type === 'over') return requested.result
    if (requested.value !== null) content[name] = requested.value
  }
  return { action: 'accept', content }
}

function openAddress(head: string, address: string, ask: ToolContext['ask']): Promise<ElicitResult> | ElicitResult {
  const url = URL.parse(address)
  if (!url || !/^https?:$/.test(url.protocol)) return { action: 'decline' }
  const question = `${head}\nOpen it yourself if you trust ${url.host}: ${cleanLine(url.href, 2_000)}`
  return agree({ question, choices: ['I opened it', DECLINE], allowFreeText: false }, ask)
}

async function agree(question: Question, ask: ToolContext['ask']): Promise<ElicitResult> {
  const answer = await ask(question)
  if (answer.type === 'unanswered') return { action: 'cancel' }
  return { action: answer.text === question.choices[0] ? 'accept' : 'decline' }
}

interface FieldQuestion {
  readonly name: string
  readonly field: JsonObject
  readonly isRequired: boolean
}

async function askField(head: string, requested: FieldQuestion, ask: ToolContext['ask']): Promise<Outcome> {
  const { field, isRequired } = requested
  const options = optionsOf(field)
  const usual = usualOf(field, options)
  const empty = usual !== null ? [`${USUAL}${usual.label}`] : isRequired ? [] : [EMPTY]
  const ways = [...empty, DECLINE]
  const isShort = options !== null && field['type'] !== 'array' && options.length + ways.length <= MOST_CHOICES
  const choices = [...(isShort ? options.map(({ label }) => label) : []), ...ways]
  const listed = options === null || isShort ? '' : `\nOne of: ${options.map(({ label }) => label).join(', ')}`
  let problem = ''
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    const question = `${head}\n${describe(requested)}${listed}${problem}`
    const answer = await ask({ question, choices, allowFreeText: !isShort })
    if (answer.type === 'unanswered') return { type: 'over', result: { action: 'cancel' } }
    const text = answer.text.trim()
    if (text === DECLINE) return { type: 'over', result: { action: 'decline' } }
    if (empty.length > 0 && (text === empty[0] || text === '')) return { type: 'value', value: usual?.value ?? null }
    const value = read(text, field, options)
    if (value !== null) return { type: 'value', value }
    problem = `\n"${cleanLine(text, 60)}" is not ${wanted(field)}.`
  }
  return { type: 'over', result: { action: 'cancel' } }
}

function describe({ name, field, isRequired }: FieldQuestion): string {
  const { title, description } = field
  const label = cleanLine(typeof title === 'string' ? title : name, 100)
  const about = typeof description === 'string' ? `: ${cleanLine(description, 300)}` : ''
  return `${label}${about}${isRequired || field['default'] !== undefined ? '' : ' (may stay empty)'}`
}

/** What stands in a field already; `null` where nothing does that it may hold. */
function usualOf(
  field: JsonObject,
  options: readonly Option[] | null,
): { readonly label: string; readonly value: Value } | null {
  const { default: standard } = field
  if (standard === undefined || standard === null || isJsonObject(standard)) return null
  const text = Array.isArray(standard)
    ? standard.join(', ')
    : standard === true
      ? YES
      : standard === false
        ? NO
        : `${standard}`
  const value = read(text, field, options)
  if (value === null) return null
  const label = options?.find((option) => option.value === text)?.label ?? text
  return { label: cleanLine(label, 100), value }
}

interface Option {
  readonly label: string
  readonly value: string
}

/** What a field may be: of `enum`, of `oneOf`, of the items of a list, or yes and no; `null` for anything. */
function optionsOf(field: JsonObject): readonly Option[] | null {
  if (field['type'] === 'boolean') return [YES, NO].map((label) => ({ label, value: label }))
  const of = field['type'] === 'array' && isJsonObject(field['items']) ? field['items'] : field
  const titled = [of['oneOf'], of['anyOf']].find(Array.isArray)
  if (titled)
    return (titled as readonly JsonValue[])
      .filter(isJsonObject)
      .flatMap(({ const: value, title }) =>
        typeof value === 'string' ? [{ value, label: cleanLine(typeof title === 'string' ? title : value, 80) }] : [],
      )
  const values = of['enum']
  if (!Array.isArray(values)) return null
  const names = Array.isArray(field['enumNames']) ? field['enumNames'] : []
  return (values as readonly JsonValue[])
    .filter((value) => typeof value === 'string')
    .map((value, index) => ({ value, label: cleanLine(String(names[index] ?? value), 80) }))
}

function read(text: string, field: JsonObject, options: readonly Option[] | null): Value | null {
  const chosen = (label: string) =>
    options!.find((option) => option.label === label || option.value === label)?.value ?? null
  switch (field['type']) {
    case 'boolean':
      return /^(?:y|yes|true)$/i.test(text) ? true : /^(?:n|no|false)$/i.test(text) ? false : null
    case 'number':
    case 'integer':
      return readNumber(text, field)
    case 'array': {
      const parts = text.split(',').map((part) => part.trim())
      const values = options === null ? parts : parts.map(chosen)
      return values.includes(null) ? null : (values as string[])
    }
    default:
      return options === null ? readText(text, field) : chosen(text)
  }
}

function readNumber(text: string, { type, minimum, maximum }: JsonObject): number | null {
  const number = text === '' ? Number.NaN : Number(text)
  if (!Number.isFinite(number) || (type === 'integer' && !Number.isInteger(number))) return null
  if (typeof minimum === 'number' && number < minimum) return null
  return typeof maximum === 'number' && number > maximum ? null : number
}

function readText(text: string, { minLength, maxLength, format }: JsonObject): string | null {
  if (text.length < (typeof minLength === 'number' ? minLength : 0)) return null
  if (typeof maxLength === 'number' && text.length > maxLength) return null
  if (format === 'email') return /^\S+@\S+$/.test(text) ? text : null
  if (format === 'uri') return URL.canParse(text) ? text : null
  if (format === 'date') return /^\d{4}-\d\d-\d\d$/.test(text) ? text : null
  return text
}

function wanted({ type, minimum, maximum, minLength, maxLength, format }: JsonObject): string {
  const bounds = [
    ...(minimum === undefined ? [] : [`at least ${minimum}`]),
    ...(maximum === undefined ? [] : [`at most ${maximum}`]),
    ...(minLength === undefined ? [] : [`at least ${minLength} characters`]),
    ...(maxLength === undefined ? [] : [`at most ${maxLength} characters`]),
  ].map(String)
  const kind = typeof format === 'string' ? cleanLine(format, 20) : String(type ?? 'value')
  return `what it wants: ${[kind, ...bounds].join(', ')}`
}

function fieldsOf(schema: unknown): readonly (readonly [string, JsonObject])[] {
  const properties = isJsonObject(schema) ? schema['properties'] : null
  if (!isJsonObject(properties)) return []
  return Object.entries(properties).flatMap(([name, field]) => (isJsonObject(field) ? [[name, field] as const] : []))
}

function requiredOf(schema: unknown): readonly unknown[] {
  const required = isJsonObject(schema) ? schema['required'] : null
  return Array.isArray(required) ? required : []
}

/** Whether a secret would be typed into a field: by what it is called, and by all that is said about it and its form. */
function isSecret(name: string, field: JsonObject, message: string): boolean {
  if (optionsOf(field) !== null) return false
  const { title, description, format } = field
  const words = (texts: readonly unknown[]) =>
    cleanText(texts.filter((text) => typeof text === 'string').join('\n'), 10_000)
  const called = words([name, title, format])
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .replace(/[_-]+/g, ' ')
  const explained = words([description, message])
  return SECRET_NAME.test(called) || [called, explained].some((text) => SECRET.test(text) || PIN.test(text))
}
