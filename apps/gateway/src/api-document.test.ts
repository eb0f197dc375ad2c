// Every route takes what it is sent: the answer fits the document, and nothing is a failure of the server.
import { Ajv2020 } from 'ajv/dist/2020.js'
import fc from 'fast-check'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { type ApiStage, apiStage } from './__fixtures__/api-stage.js'
import { ROUTES, type Route } from './routes.js'

/** A thousand of each in a long run. */
const RUNS = Number(process.env['HERMES_TEST_REQUESTS'] ?? 12)

let stage: ApiStage
let document: {
  readonly components: { readonly schemas: object }
  readonly paths: Record<string, Record<string, Operation>>
}
const ids: Record<string, string> = {}

interface Operation {
  readonly responses: Record<
    string,
    { readonly content: Record<string, { readonly schema?: { readonly $ref: string } }> }
  >
}

beforeAll(async () => {
  stage = await apiStage({ gateway: { api_server: { answer_approvals: true } } })
  document = (await (await stage.ask('/openapi.json', undefined, { authorization: '' })).json()) as typeof document
  stage.server.setHandler(() => ({ text: 'Yes.' }))
  const chat = await stage.ask('/v1/chat/completions', { messages: [{ role: 'user', content: 'Are you there?' }] })
  ids['session'] = chat.headers.get('x-hermes-session-id')!
  ids['response'] = ((await (await stage.ask('/v1/responses', { input: 'And now?' })).json()) as { id: string }).id
  ids['run'] = ((await (await stage.ask('/v1/runs', { input: 'Run.' })).json()) as { run_id: string }).run_id
})
afterAll(() => stage.close())
beforeEach(() => stage.server.setHandler(() => ({ text: 'Yes.' })))

const junk = fc.oneof(
  fc.constantFrom<unknown>(null, '', 0, -1, 1e308, true, [], {}, [[]], 'x'.repeat(300), '\0', '\ud800', { type: 'x' }),
  fc.jsonValue({ maxDepth: 2 }),
)
const message = fc.record(
  {
    role: fc.constantFrom('user', 'assistant', 'system', 'tool'),
    content: fc.oneof(fc.string(), junk),
    tool_call_id: junk,
  },
  { requiredKeys: ['role', 'content'] },
)
/** Well formed more often than not, with anything in its place now and then. */
const mostly = (arbitrary: fc.Arbitrary<unknown>) => fc.oneof({ arbitrary, weight: 14 }, { arbitrary: junk, weight: 1 })
const among = (...values: readonly unknown[]) => mostly(fc.constantFrom(...values))
const schema = among({ type: 'object' }, { type: 'string' }, {})
const format = fc.oneof(
  among({ type: 'text' }, { type: 'json_object' }),
  fc.record({ type: fc.constant('json_schema'), json_schema: fc.record({ name: fc.constant('a'), schema }) }),
)
const flat = fc.record({ type: among('json_schema', 'text'), name: fc.constant('a'), schema })
const tools = among([], [{ type: 'function', function: { name: 'f' } }], [{ type: 'function', name: 'f' }])
const common = {
  model: among('m', 'hermes-agent'),
  temperature: among(0, 1, null),
  tool_choice: among('none', 'auto'),
  metadata: among({}, null),
  top_p: among(1),
  user: among('me'),
}
const words = mostly(fc.string({ minLength: 1 }).map((text) => `${text}.`))
const messages = mostly(fc.array(message, { maxLength: 3 }).map((all) => [...all, { role: 'user', content: 'And?' }]))
const BODIES: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
  ChatRequest: fc.record(
    {
      messages,
      response_format: format,
      stop: among('Y', ['e', 's'], null),
      stream: among(true, false),
      tools,
      ...common,
    },
    { requiredKeys: ['messages'] },
  ),
  ResponseRequest: fc.record(
    {
      input: fc.oneof(words, messages),
      text: fc.record({ format: flat }),
      previous_response_id: among(null),
      tools,
      ...common,
    },
    { requiredKeys: ['input'] },
  ),
  RunRequest: fc.record(
    {
      input: words,
      session_id: among(null),
      conversation_history: among([], [{ role: 'user', content: 'x' }]),
      ...common,
    },
    { requiredKeys: ['input'] },
  ),
  Action: fc.record({ text: words, choice: among('once', 'deny'), approval_id: junk }, { requiredKeys: [] }),
  SessionChange: fc.record({ title: words }),
  Fork: fc.record({ title: words, up_to: mostly(fc.integer({ min: 1, max: 9 })) }, { requiredKeys: [] }),
}
const raw = fc.constantFrom('', '{', 'null', '[]', '"x"', '[['.repeat(2_000))
const query = fc.oneof(
  fc.string({ maxLength: 20 }),
  fc.integer().map(String),
  fc.constantFrom('"', 'a OR', '*', '-1', '5'),
)

function requestOf({ path, body, query: names = [] }: Route) {
  const known = fc.constantFrom(
    ids['session']!,
    ids['response']!,
    ids['run']!,
    'steer',
    'stop',
    'approval',
    '1',
    'none',
  )
  const part = fc.oneof(known, fc.string({ minLength: 1, maxLength: 12 }))
  const parts = fc.array(part, { minLength: 3, maxLength: 3 }).map((values) => {
    const left = [...values]
    return path.replace(/\{\w+\}/g, () => encodeURIComponent(toWellFormed(left.pop()!)))
  })
  const search = fc.dictionary(fc.constantFrom(...names, 'other'), query, { maxKeys: names.length })
  const sent = body === undefined ? fc.constant(undefined) : fc.oneof({ arbitrary: BODIES[body]!, weight: 9 }, raw)
  return fc.record({ path: parts, search, body: sent })
}

// A lone surrogate cannot stand in an address.
const toWellFormed = (text: string) => text.replace(/[\ud800-\udfff]/g, 'x')

it('describes the routes there are, and no others', () => {
  const inApp = stage.api.app.routes
    .filter(({ method, path }) => ['GET', 'POST', 'PATCH', 'DELETE'].includes(method) && !path.startsWith('/webhooks'))
    .map(({ method, path }) => `${method} ${path.replace(/:(\w+)(\{[^}]*\})?/g, '{$1}')}`)
  const described = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  )
  expect(new Set(described)).toEqual(new Set(inApp))
})

it.each(ROUTES.map((route) => [`${route.method} ${route.path}`, route] as const))(
  'answers what the document says, whatever comes: %s',
  async (_title, route) => {
    const ajv = new Ajv2020({ strict: false, validateFormats: false })
    ajv.addSchema({ $id: 'api', components: document.components })
    const { responses } = document.paths[route.path]![route.method.toLowerCase()]!
    const seen = new Set<number>()
    await fc.assert(
      fc.asyncProperty(requestOf(route), async ({ path, search, body }) => {
        const pairs = Object.entries(search).map(([name, value]) => [name, toWellFormed(value)] as [string, string])
        const text = new URLSearchParams(pairs).toString()
        const answer = await stage.ask(text === '' ? path : `${path}?${text}`, body, {}, route.method)
        seen.add(answer.status)
        const type = answer.headers.get('content-type') ?? ''
        if (/^text\/(?:event-stream|plain)/.test(type)) {
          await answer.body!.cancel()
          return
        }
        const value: unknown = await answer.json()
        expect([answer.status, value]).not.toEqual([500, expect.anything()])
        const { content } = responses[String(answer.status)] ?? responses['default']!
        const { $ref } = content['application/json']?.schema ?? { $ref: '#/components/schemas/Object' }
        const validate = ajv.getSchema(`api${$ref}`)!
        expect(validate(value) ? null : [validate.errors, value]).toBeNull()
      }),
      { numRuns: RUNS },
    )
    // Of a dozen all may be refused.
    if (RUNS >= 100 && !route.path.includes('{') && !route.query?.includes('q'))
      expect(seen).toContain(route.status ?? 200)
  },
)
