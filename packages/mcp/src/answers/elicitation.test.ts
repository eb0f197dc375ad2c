import type { Question } from '@hermes/contracts/tool'
import { expect, it } from 'vitest'
import { elicit } from './elicitation.js'

type Outcome = Parameters<typeof elicit>[1]

async function ask(params: object, ...answers: readonly (string | null)[]) {
  const requested: Question[] = []
  const lines: string[] = []
  const result = await elicit('far', { message: 'Please.', ...params } as Outcome, {
    ask: async (question) => {
      const text = answers[requested.push(question) - 1]
      return text === null || text === undefined ? { type: 'unanswered', reason: 'gone' } : { type: 'answered', text }
    },
    progress: (line) => void lines.push(line),
  })
  return { requested, lines, result }
}
const form = (properties: object, required: readonly string[] = []) => ({
  requestedSchema: { type: 'object', properties, required },
})

it('asks field by field, again what does not fit, and hands over what was answered', async () => {
  const fields = {
    size: { type: 'integer', minimum: 1, maximum: 9 },
    colour: { type: 'string', enum: ['red', 'blue'] },
    agree: { type: 'boolean' },
    tags: { type: 'array', items: { type: 'string', enum: ['a', 'b', 'c'] } },
    note: { type: 'string' },
  }
  const { requested, result } = await ask(form(fields, ['size']), 'ten', '7', 'blue', 'Yes', 'a, c', 'Leave it empty')
  expect(result).toEqual({ action: 'accept', content: { size: 7, colour: 'blue', agree: true, tags: ['a', 'c'] } })
  expect(requested[1]!.question).toContain('"ten" is not what it wants: integer, at least 1, at most 9.')
  expect(requested[0]).toMatchObject({ choices: ['Decline'], allowFreeText: true })
  expect(requested[2]).toMatchObject({ choices: ['red', 'blue', 'Leave it empty', 'Decline'], allowFreeText: false })
})

it('offers what stands in a field already, and takes it for an empty answer', async () => {
  const fields = {
    age: { type: 'integer', default: 30 },
    state: { type: 'string', enum: ['on', 'off'], default: 'off' },
    sure: { type: 'boolean', default: true },
    tags: { type: 'array', items: { enum: ['a', 'b'] }, default: ['a', 'b'] },
    wrong: { type: 'integer', default: 'many' },
  }
  const { requested, result } = await ask(form(fields, ['age']), '', 'As it is: off', 'No', 'As it is: a, b', '')
  expect(result).toEqual({ action: 'accept', content: { age: 30, state: 'off', sure: false, tags: ['a', 'b'] } })
  expect(requested[0]!.choices).toEqual(['As it is: 30', 'Decline'])
  expect(requested[4]!.choices).toEqual(['Leave it empty', 'Decline'])
})

it('declines with the person, and gives up with nobody there or after three answers that do not fit', async () => {
  expect((await ask(form({ a: { type: 'string' } }), 'Decline')).result).toEqual({ action: 'decline' })
  expect((await ask(form({ a: { type: 'string' } }), null)).result).toEqual({ action: 'cancel' })
  expect((await ask(form({ a: { type: 'number' } }, ['a']), 'x', 'y', 'z')).result).toEqual({ action: 'cancel' })
  expect((await ask(form({}), 'Yes')).result).toEqual({ action: 'accept' })
})

const text = { type: 'string' }
const heap = Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`f${index}`, text]))
it.each<[object, string?]>([
  [{ password: text }],
  [{ pwd: text }],
  [{ passcode: text }],
  [{ apiKey: text }],
  [{ user_pin: { type: 'integer' } }],
  [{ a: { ...text, title: 'Your PIN' } }],
  [{ a: { ...text, description: 'The passphrase of your wallet' } }],
  [{ a: { ...text, description: 'The PIN of your card' } }],
  [{ a: { type: 'integer', description: 'OTP' } }],
  [{ a: { ...text, description: 'The one-time code we sent you' } }],
  [{ value: text }, 'Enter your GitHub password'],
  [{ value: text }, 'Enter your GitHub pass\u200Bword'],
  [{ colour: { enum: ['red'] }, value: { type: 'number' } }, 'Type the verification code of your phone'],
  [heap],
])('asks for no secret and no heap of answers: %j %s', async (fields, message = 'Please.') => {
  const { requested, lines, result } = await ask({ ...form(fields), message })
  expect(result).toEqual({ action: 'decline' })
  expect(requested).toEqual([])
  expect(lines).toEqual([expect.stringMatching(/^The MCP server far asked for .*, which it may not: declined\.$/)])
})

it.each<[object, string?]>([
  [{ sure: { type: 'boolean' } }, 'Delete the entry of your password?'],
  [{ reset_password: { type: 'boolean' } }],
  [{ channel: text }, 'Where is the message to be pinned? Pin it to'],
  [{ limit: { type: 'integer', description: 'How many tokens of text' } }],
])('asks what no secret is typed into: %j %s', async (fields, message = 'Please.') => {
  expect((await ask({ ...form(fields), message }, 'Decline')).requested).toHaveLength(1)
})

it('shows an address with its host and opens nothing', async () => {
  const url = { mode: 'url', url: 'https://pay.example/now', elicitationId: 'e' }
  const { requested, result } = await ask(url, 'I opened it')
  expect(requested[0]!.question).toContain('Open it yourself if you trust pay.example: https://pay.example/now')
  expect(result).toEqual({ action: 'accept' })
  expect((await ask({ ...url, url: 'file:///etc/passwd' })).result).toEqual({ action: 'decline' })
})
