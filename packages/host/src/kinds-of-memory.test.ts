// What an agent knows comes in kinds, and each has a place of its own: who the user is, what is so, what helped against an error, what
// happened. How things are done is no memory.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { openRuntime } from '@hermes/runtime'
import { createFakeClock, startModelServer, temporaryHome } from '@hermes/testkit'
import { expect, it, onTestFinished } from 'vitest'
import { createSessionHost } from './index.js'

async function stage() {
  const [home, server] = [await temporaryHome(), await startModelServer()]
  const clock = createFakeClock(Date.parse('2026-03-01T12:00:00Z'))
  onTestFinished(async () => {
    await server.close()
    await home.remove()
  })
  const enter = async () => {
    const place = { home: home.path, userHome: home.path, cwd: home.path, tempDir: home.path }
    const runtime = await openRuntime({ ...place, env: {}, user: 'me', yolo: true, clock })
    const host = createSessionHost({ runtime, clock })
    onTestFinished(async () => {
      await host.close()
      await runtime.close()
    })
    return { runtime, session: host.open({ platform: 'cli', permissions: 'deny' }) }
  }
  return { home, server, clock, enter }
}
const call = (name: string, args: object) => ({ toolCalls: [{ name, args: args as never }] })

it('keeps identity, facts, fixes and what happened apart, and finds each again in its own way', async () => {
  const { home, server, clock, enter } = await stage()
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
  const { runtime, session: first } = await enter()
  await first.send('I am Ada. Brew tea for the guests.').result
  const refused = JSON.stringify(server.requests.at(-1)!.body.messages)
  expect(refused).toContain('That is worded as an order.')
  await first.send('Thank you.').result
  await first.end('left')
  await expect.poll(() => clock.pending()).toContain(5_000)
  await clock.advance(5_000)
  const storage = await runtime.storage()
  await expect.poll(() => storage.summaries.get(first.id), { timeout: 10_000 }).toMatchObject({ keywords: ['samovar'] })

  script.push(
    call('terminal', { command: 'echo "kettle: element burnt out" >&2; exit 3' }),
    call('session_search', { query: 'samovar' }),
    { text: 'I see.' },
  )
  const { session: second } = await enter()
  await second.send('And today?').result
  const [system, ...turn] = server.requests.at(-1)!.body.messages.map(({ content }) => JSON.stringify(content))
  expect(system).toMatch(/MEMORY, your own notes[^§]*The kettle stands in room 7\.[^§]*USER PROFILE[^§]*Is called Ada/)
  expect(system).not.toMatch(/Replace the element|Always run|brewed/)
  expect(turn.join('\n')).toContain('What helped then: Replace the element.')
  expect(turn.at(-1)).toContain('Summary: The tea for the guests was brewed.')
})
