// What an agent knows comes in kinds, and each has a place of its own: who the user is, what is so, what helped against an error, what
// happened. How things are done is no memory.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createFakeClock, type ModelServer, startModelServer, type TemporaryHome, temporaryHome } from '@hermes/testkit'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { openRuntime } from '../open-runtime.js'
import type { Runtime } from '../runtime.js'

let home: TemporaryHome
let server: ModelServer
const opened: Runtime[] = []

beforeEach(async () => {
  home = await temporaryHome()
  server = await startModelServer()
})
afterEach(async () => {
  for (const runtime of opened.splice(0)) await runtime.close()
  await server.close()
  await home.remove()
})

const clock = createFakeClock(Date.parse('2026-03-01T12:00:00Z'))
async function open(): Promise<Runtime> {
  const place = { home: home.path, userHome: home.path, cwd: home.path, tempDir: home.path }
  const runtime = await openRuntime({ ...place, env: {}, user: 'me', yolo: true, clock })
  opened.push(runtime)
  return runtime
}
const call = (name: string, args: object) => ({ toolCalls: [{ name, args: args as never }] })

it('keeps identity, facts, fixes and what happened apart, and finds each again in its own way', async () => {
  const model = { provider: 'custom', default: 'm', base_url: server.baseUrl }
  const auxiliary = { title_generation: { enabled: false } }
  const toolsets = ['hermes-cli', 'learning', 'session_search']
  const config = { model, auxiliary, toolsets, memory: { flush_min_turns: 0 } }
  await writeFile(join(home.path, 'config.yaml'), JSON.stringify(config))
  const script = [
    call('memory', { target: 'user', action: 'add', content: 'Is called Ada and prefers metric units.' }),
    call('memory', { target: 'memory', action: 'add', content: 'The kettle stands in room 7.' }),
    call('memory', { target: 'memory', action: 'add', content: 'Always run the kettle twice.' }),
    call('learning', { action: 'save', pattern: 'kettle: element burnt out', fix: 'Replace the element.' }),
    { text: 'All noted.' },
    { text: 'You are welcome.' },
  ]
  const summary = 'The tea for the guests was brewed.\nKeywords: samovar'
  server.setHandler(({ body }) =>
    JSON.stringify(body.messages).includes('Sum up the conversation') ? { text: summary } : script.shift()!,
  )
  const first = await (await open()).createAgent({})
  await first.agent.run('I am Ada. Brew tea for the guests.').result
  const refused = JSON.stringify(server.requests.at(-1)!.body.messages)
  expect(refused).toContain('That is worded as an order.')
  await first.agent.run('Thank you.').result
  await first.close()
  await clock.advance(5_000)
  const storage = await opened[0]!.storage()
  await expect.poll(() => storage.summaries.get(first.agent.sessionId)).toMatchObject({ keywords: ['samovar'] })

  script.push(
    call('terminal', { command: 'echo "kettle: element burnt out" >&2; exit 3' }),
    call('session_search', { query: 'samovar' }),
    { text: 'I see.' },
  )
  const second = await (await open()).createAgent({})
  await second.agent.run('And today?').result
  const [system, ...turn] = server.requests.at(-1)!.body.messages.map(({ content }) => JSON.stringify(content))
  expect(system).toMatch(/MEMORY, your own notes[^§]*The kettle stands in room 7\.[^§]*USER PROFILE[^§]*Is called Ada/)
  expect(system).not.toMatch(/Replace the element|Always run|brewed/)
  expect(turn.join('\n')).toContain('What helped then: Replace the element.')
  expect(turn.at(-1)).toContain('Summary: The tea for the guests was brewed.')
})
