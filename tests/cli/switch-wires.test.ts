// One session taken from wire to wire, each step in a new process: every change from one wire to another happens once.
import { expect, it } from 'vitest'
import { runCli } from '../support/cli.js'
import { useScene } from '../support/scene.js'

const scene = useScene()
const env = {
  DEEPSEEK_API_KEY: 'sk-test-1234567890',
  ANTHROPIC_API_KEY: 'sk-ant-test-1234567890',
  XAI_API_KEY: 'xai-test-1234567890',
  AWS_BEARER_TOKEN_BEDROCK: 'ABSK-test-1234567890',
}
/** The provider and model of each wire. */
const WIRES = {
  'chat-completions': ['deepseek', 'deepseek-v4-flash'],
  'anthropic-messages': ['anthropic', 'claude-opus-5-5'],
  responses: ['xai', 'grok-4.6'],
  'bedrock-converse': ['bedrock', 'us.anthropic.claude-opus-5-5-v1:0'],
} as const
type Wire = keyof typeof WIRES
const [CHAT, MESSAGES, RESPONSES, CONVERSE] = Object.keys(WIRES) as [Wire, Wire, Wire, Wire]
const WAY: readonly Wire[] = [
  ...[CHAT, MESSAGES, CHAT, RESPONSES, CHAT, CONVERSE, MESSAGES],
  ...[RESPONSES, MESSAGES, CONVERSE, RESPONSES, CONVERSE, CHAT],
]

it('keeps every word on all ways between the wires, and gives each endpoint its own thoughts back', async () => {
  const { server } = scene
  for (const [step, wire] of WAY.entries()) {
    const [provider, model] = WIRES[wire]
    server.enqueue(
      { reasoning: `thought ${step}.`, toolCalls: [{ name: 'search_files', args: { pattern: `word-${step}` } }] },
      { text: `answer ${step}.` },
    )
    const isBare = wire === MESSAGES || wire === CONVERSE
    const to = ['--provider', provider, '-m', model, '--base-url', isBare ? server.anthropicBaseUrl : server.baseUrl]
    const goOn = step === 0 ? [] : ['-c']
    const result = await runCli(['chat', ...goOn, '-q', `question ${step}.`, ...to], { ...scene, env })
    expect(result, `step ${step}`).toMatchObject({ exitCode: 0, stdout: `answer ${step}.\n` })
  }
  expect(server.violations).toEqual([])
  expect(server.requests.map(({ api }) => api)).toEqual(WAY.flatMap((wire) => [wire, wire]))
  for (const [step, wire] of WAY.entries()) {
    const { body } = server.requests[2 * step + 1]!
    const sent = JSON.stringify(body) + unsealed(body['input'])
    for (let earlier = 0; earlier < step; earlier++) {
      for (const words of ['question', 'answer']) expect(sent).toContain(`${words} ${earlier}.`)
      expect(sent).toContain(`word-${earlier}`)
    }
    const thoughts = WAY.flatMap((_, earlier) => (sent.includes(`thought ${earlier}.`) ? [earlier] : []))
    expect(thoughts, `step ${step}, ${wire}`).toEqual([...WAY.keys()].filter((at) => at <= step && WAY[at] === wire))
  }
}, 120_000)

/** What the scripted server sealed, readable. */
function unsealed(input: unknown): string {
  const items = Array.isArray(input) ? (input as readonly { readonly encrypted_content?: string }[]) : []
  const texts = items.map(({ encrypted_content = '' }) => encrypted_content.split('.')[1] ?? '')
  return texts.map((text) => Buffer.from(text, 'base64').toString('utf8')).join(' ')
}
