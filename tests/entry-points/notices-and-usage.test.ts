// What a person is to be told beside the answer, and what the answer took with its delegated tasks, where no terminal shows it.
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { agentText, startEditor } from '../support/acp.js'
import { startGateway } from '../support/gateway.js'
import { useScene } from '../support/scene.js'

const scene = useScene()
const QUIET = 'auxiliary: {title_generation: {enabled: false}, session_summary: {enabled: false}}\n'
const COMPACTING = 'Compacting the conversation'

const call = (name: string, args: object) => ({ toolCalls: [{ name, args }] })

/** Answers that fill a small window until it is compacted. */
async function fillWindow(): Promise<void> {
  const { server, home, cwd } = scene
  await mkdir(home, { recursive: true })
  const model = `model: {provider: custom, default: m, base_url: "${server.baseUrl}", context_length: 24000}\n`
  await writeFile(join(home, 'config.yaml'), QUIET + model)
  for (let count = 1; count <= 9; count++)
    await writeFile(join(cwd, `big${count}.txt`), `some words in a line ${count}\n`.repeat(300))
  let calls = 0
  server.setHandler(({ body }) => {
    if (String(body.messages[0]?.content).startsWith('You write the record')) return { text: 'The agent read a lot.' }
    if (calls++ === 9) return { text: 'All of it is read.' }
    return { ...call('read_file', { path: `big${calls}.txt` }), usage: { inputTokens: Math.min(calls, 7) * 3_000 } }
  })
}

/** One call and its answer, around a task that takes 7 tokens and answers with 3. */
function delegate(): readonly string[] {
  const { server } = scene
  server.setHandler(({ body }) => {
    const isChild = !JSON.stringify(body.messages).includes('Have it counted.')
    if (isChild) return { text: 'Three apples.', usage: { inputTokens: 7, outputTokens: 3 } }
    const usage = { inputTokens: 100, outputTokens: 10 }
    if (body.messages.at(-1)!.role === 'tool') return { text: 'Three.', usage }
    return { ...call('delegate_task', { goal: 'Count the apples.' }), usage }
  })
  return ['--base-url', server.baseUrl, '-m', 'm']
}

it('a client of the gateway gets notices as events of the stream and with the answer', async () => {
  await fillWindow()
  const gateway = await startGateway([], scene)
  const body = (stream: boolean) => ({ model: 'hermes-agent', stream, messages: [{ role: 'user', content: 'Read.' }] })
  const stream = await (await gateway.request('/chat/completions', { body: JSON.stringify(body(true)) })).text()
  expect(stream).toMatch(/event: hermes\.notice\ndata: .*"delta":\{\}.*Compacting the conversation/)
  expect(stream).toContain('All of it is read.')
  await fillWindow()
  const answer = await (await gateway.request('/chat/completions', { body: JSON.stringify(body(false)) })).text()
  expect((JSON.parse(answer) as { hermes: object }).hermes).toMatchObject({
    notices: expect.arrayContaining([{ level: 'info', text: expect.stringContaining(COMPACTING) }]),
  })
  expect(await gateway.stop()).toBe(0)
})

it('an editor is shown notices: apart where it can do that, else as thoughts', async () => {
  for (const showsNotices of [false, true]) {
    await fillWindow()
    const capabilities = showsNotices ? { session: { notices: {} } } : {}
    const editor = await startEditor([], scene, { capabilities })
    await editor.prompt(await editor.newSession(scene.cwd), 'Read.')
    const notices = editor.updates.flatMap(({ update }) => (update.sessionUpdate === 'notice' ? update.title : []))
    const thoughts = agentText(editor.updates, 'agent_thought_chunk')
    expect(showsNotices ? notices.join() : thoughts).toContain(COMPACTING)
    expect(showsNotices ? thoughts : notices.join()).toBe('')
    expect(await editor.leave()).toBe(0)
  }
})

it('a client of the gateway gets the usage of delegated tasks with that of the answer', async () => {
  const gateway = await startGateway(delegate(), scene)
  const messages = [{ role: 'user' as const, content: 'Have it counted.' }]
  const { usage } = await gateway.client().chat.completions.create({ model: 'hermes-agent', messages })
  expect(usage).toMatchObject({ prompt_tokens: 207, completion_tokens: 23 })
  expect(await gateway.stop()).toBe(0)
})

it('an editor gets how full the window is, and the usage of delegated tasks with that of the prompt', async () => {
  const editor = await startEditor(delegate(), scene)
  await editor.prompt(await editor.newSession(scene.cwd), 'Have it counted.')
  const update = await editor.update(({ sessionUpdate }) => sessionUpdate === 'usage_update')
  expect(update).toMatchObject({
    used: 110,
    size: expect.any(Number),
    _meta: { hermes: { usage: { inputTokens: 207, outputTokens: 23 } } },
  })
  expect(await editor.leave()).toBe(0)
})
