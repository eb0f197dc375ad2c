// What the conformance suite of the Model Context Protocol asks of a server under test, beside what a home offers: its tools, prompts and resources.
import { fromJsonSchema, type McpServer, ResourceTemplate, type ServerContext } from '@modelcontextprotocol/server'

const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=='
const WAV = 'UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAAAAA=='
const TINY_WAIT_MS = 50

type Content = { readonly type: string } & Readonly<Record<string, unknown>>
type Call = (args: Readonly<Record<string, unknown>>, context: ServerContext) => Promise<readonly Content[]> | readonly Content[]

const text = (of: string): Content => ({ type: 'text', text: of })
const image: Content = { type: 'image', data: PNG, mimeType: 'image/png' }
const wait = () => new Promise((resolve) => setTimeout(resolve, TINY_WAIT_MS))
const strings = (...names: readonly string[]) => ({
  type: 'object',
  properties: Object.fromEntries(names.map((name) => [name, { type: 'string' }])),
  required: names,
})
const titled = (...pairs: readonly (readonly [string, string])[]) => pairs.map(([value, title]) => ({ const: value, title }))

const DEFAULTS = {
  type: 'object',
  properties: {
    name: { type: 'string', default: 'John Doe' },
    age: { type: 'integer', default: 30 },
    score: { type: 'number', default: 95.5 },
    status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' },
    verified: { type: 'boolean', default: true },
  },
}
const OPTIONS = ['option1', 'option2', 'option3']
const TITLES = [
  ['value1', 'One'],
  ['value2', 'Two'],
  ['value3', 'Three'],
] as const
const ENUMS = {
  type: 'object',
  properties: {
    untitledSingle: { type: 'string', enum: OPTIONS },
    titledSingle: { type: 'string', oneOf: titled(...TITLES) },
    legacyEnum: { type: 'string', enum: ['opt1', 'opt2', 'opt3'], enumNames: ['One', 'Two', 'Three'] },
    untitledMulti: { type: 'array', items: { type: 'string', enum: OPTIONS } },
    titledMulti: { type: 'array', items: { anyOf: titled(...TITLES) } },
  },
}

async function elicit({ mcpReq }: ServerContext, message: string, requestedSchema: object): Promise<readonly Content[]> {
  const { action, content } = await mcpReq.elicitInput({ message, requestedSchema } as never)
  return [text(`Elicitation completed: action=${action}, content=${JSON.stringify(content ?? {})}`)]
}

const TOOLS: Readonly<Record<string, Call>> = {
  test_simple_text: () => [text('This is a simple text response for testing.')],
  test_image_content: () => [image],
  test_audio_content: () => [{ type: 'audio', data: WAV, mimeType: 'audio/wav' }],
  test_embedded_resource: () => [
    { type: 'resource', resource: { uri: 'test://embedded-resource', mimeType: 'text/plain', text: 'Embedded.' } },
  ],
  test_multiple_content_types: () => [
    text('Multiple content types test:'),
    image,
    { type: 'resource', resource: { uri: 'test://mixed', mimeType: 'application/json', text: '{"test":"data","value":123}' } },
  ],
  test_tool_with_logging: async (_, { mcpReq }) => {
    for (const line of ['Tool execution started', 'Tool processing data', 'Tool execution completed']) {
      await mcpReq.log('info', line)
      await wait()
    }
    return [text('Logged.')]
  },
  test_tool_with_progress: async (_, { mcpReq }) => {
    const progressToken = mcpReq._meta?.progressToken
    for (const progress of [0, 50, 100]) {
      if (progressToken !== undefined)
        await mcpReq.notify({ method: 'notifications/progress', params: { progressToken, progress, total: 100 } })
      await wait()
    }
    return [text('Made progress.')]
  },
  test_error_handling: () => {
    throw new Error('This tool intentionally returns an error for testing')
  },
  test_sampling: async ({ prompt }, { mcpReq }) => {
    const messages = [{ role: 'user', content: { type: 'text', text: String(prompt) } }]
    const { content } = await mcpReq.requestSampling({ messages, maxTokens: 100 } as never)
    return [text(`LLM response: ${JSON.stringify(content)}`)]
  },
  test_elicitation: ({ message }, context) => elicit(context, String(message), strings('username', 'email')),
  test_elicitation_sep1034_defaults: (_, context) => elicit(context, 'Keep these?', DEFAULTS),
  test_elicitation_sep1330_enums: (_, context) => elicit(context, 'Which?', ENUMS),
  test_reconnection: async (_, { http }) => {
    await wait()
    http?.closeSSE?.()
    await wait()
    return [text('Reconnected.')]
  },
  json_schema_2020_12_tool: () => [text('Fits.')],
}
const SCHEMAS: Readonly<Record<string, object>> = {
  test_sampling: strings('prompt'),
  test_elicitation: strings('message'),
  json_schema_2020_12_tool: {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'object',
    $defs: { address: { type: 'object', properties: { street: { type: 'string' }, city: { type: 'string' } } } },
    properties: { name: { type: 'string' }, address: { $ref: '#/$defs/address' } },
    additionalProperties: false,
  },
}

type Arguments = Readonly<Record<string, string>>
const PROMPTS: readonly (readonly [string, readonly string[], (args: Arguments) => readonly Content[]])[] = [
  ['test_simple_prompt', [], () => [text('This is a simple prompt for testing.')]],
  [
    'test_prompt_with_arguments',
    ['arg1', 'arg2'],
    ({ arg1, arg2 }) => [text(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`)],
  ],
  [
    'test_prompt_with_embedded_resource',
    ['resourceUri'],
    ({ resourceUri }) => [
      { type: 'resource', resource: { uri: resourceUri, mimeType: 'text/plain', text: 'Embedded.' } },
      text('Please process the embedded resource above.'),
    ],
  ],
  ['test_prompt_with_image', [], () => [image, text('Please analyze the image above.')]],
]

/** Adds all of it to a server. */
export function addSuiteTools(server: McpServer): McpServer {
  server.server.registerCapabilities({ logging: {}, completions: {}, resources: { subscribe: true } })
  for (const [name, call] of Object.entries(TOOLS)) {
    const inputSchema = fromJsonSchema<Readonly<Record<string, unknown>>>((SCHEMAS[name] ?? { type: 'object' }) as never)
    server.registerTool(name, { description: `The suite's ${name}.`, inputSchema }, async (args, context) => {
      return { content: await call(args, context) } as never
    })
  }
  for (const [name, names, give] of PROMPTS) {
    const argsSchema = fromJsonSchema<Arguments>(strings(...names) as never)
    const description = `The suite's ${name}.`
    const prompt = (args: Arguments) => ({ messages: give(args).map((content) => ({ role: 'user', content })) }) as never
    if (names.length === 0) server.registerPrompt(name, { description }, () => prompt({}))
    else server.registerPrompt(name, { description, argsSchema }, prompt)
  }
  addResources(server)
  const protocol = server.server
  protocol.setRequestHandler('resources/subscribe', () => ({}))
  protocol.setRequestHandler('resources/unsubscribe', () => ({}))
  protocol.setRequestHandler('logging/setLevel', () => ({}))
  protocol.setRequestHandler('completion/complete', () => ({ completion: { values: ['test one', 'test two'] } }))
  return server
}

function addResources(server: McpServer): void {
  const about = (mimeType: string) => ({ mimeType, description: 'One of the suite.' })
  const fixed = (uri: string, mimeType: string, content: { readonly text: string } | { readonly blob: string }) =>
    server.registerResource(uri, uri, about(mimeType), () => ({ contents: [{ uri, mimeType, ...content }] }) as never)
  fixed('test://static-text', 'text/plain', { text: 'This is the content of the static text resource.' })
  fixed('test://static-binary', 'image/png', { blob: PNG })
  fixed('test://watched-resource', 'text/plain', { text: 'Watched.' })
  const template = new ResourceTemplate('test://template/{id}/data', { list: undefined })
  server.registerResource('template', template, about('application/json'), (uri, { id }) => {
    const data = { id, templateTest: true, data: `Data for ID: ${String(id)}` }
    return { contents: [{ uri: uri.href, mimeType: 'application/json', text: JSON.stringify(data) }] }
  })
}
