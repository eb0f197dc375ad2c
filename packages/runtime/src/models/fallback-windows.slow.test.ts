import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type ModelServer, type ModelStep, startModelServer, temporaryHome } from '@hermes/testkit'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { openRuntime } from '../open-runtime.js'

const WINDOW = 16_384
const CHARS_PER_TOKEN = 4
const STEPS = 60

let server: ModelServer
let spare: ModelServer
beforeEach(async () => {
  ;[server, spare] = await Promise.all([startModelServer(), startModelServer()])
})
afterEach(() => Promise.all([server.close(), spare.close()]))

/** Takes so many steps, and refuses what does not fit; without tools it is asked for a summary. */
function smallModel() {
  const counts = { steps: 0, refused: 0, summaries: 0 }
  spare.setHandler(({ body }): ModelStep => {
    if (JSON.stringify(body).length > WINDOW * CHARS_PER_TOKEN) {
      counts.refused++
      const message = `This model's maximum context length is ${WINDOW} tokens.`
      return { fault: 'status', status: 400, body: { error: { message, code: 'context_length_exceeded' } } }
    }
    if (!body.tools?.length) {
      counts.summaries++
      return { text: 'What was read so far says nothing new.' }
    }
    if (counts.steps++ >= STEPS) return { text: 'All steps are done.' }
    return { toolCalls: [{ name: 'read_file', args: { path: `part-${counts.steps}.txt` } }] }
  })
  return counts
}

it.each([
  { known: 'configured', facts: { context_length: WINDOW }, before: 0 },
  { known: 'learned from its refusal', facts: {}, before: 0 },
  { known: 'learned when the first model dies on a long session', facts: {}, before: 6 },
])('goes on with a fallback whose small window is $known', async ({ facts, before }) => {
  await using home = await temporaryHome()
  const config = {
    model: { default: 'm', base_url: server.baseUrl, context_length: 200_000 },
    providers: { spare: { base_url: spare.baseUrl, ...facts } },
    fallback_providers: [{ provider: 'spare', model: 'small' }],
    agent: { api_max_retries: 0 },
    title_generation: { enabled: false },
    memory: { nudge_interval: 0 },
  }
  await writeFile(join(home.path, 'config.yaml'), JSON.stringify(config))
  for (let part = 1; part <= STEPS; part++)
    await writeFile(join(home.path, `part-${part}.txt`), `part ${part} ${'says this and that '.repeat(80)}\n`)
  const world = { env: {}, cwd: home.path, user: 'u', tempDir: home.path }
  const runtime = await openRuntime({ home: home.path, userHome: home.path, ...world })
  try {
    const { agent } = await runtime.createAgent({ maxSteps: STEPS + 5 })
    server.setHandler(() => ({ text: 'a long answer '.repeat(1_500) }))
    for (let turn = 0; turn < before; turn++) await agent.run('Tell me more.').result
    server.setHandler(() => ({ fault: 'status', status: 500 }))
    const counts = smallModel()
    const result = await agent.run('Read every part.').result
    expect(result).toMatchObject({ status: 'completed', text: 'All steps are done.' })
    expect(counts.summaries).toBeGreaterThan(0)
    // One that is known is never run into.
    if (facts.context_length) expect(counts.refused).toBe(0)
    else expect(counts.refused).toBeGreaterThan(0)
    // The turn stays where it was answered.
    const requested = server.requests.filter(({ body }) => body.tools?.length)
    expect(requested).toHaveLength(before + 1)
  } finally {
    await runtime.close()
  }
})
