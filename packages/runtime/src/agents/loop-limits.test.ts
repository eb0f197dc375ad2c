import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { startModelServer, temporaryHome } from '@hermes/testkit'
import { expect, it } from 'vitest'
import { openRuntime } from '../open-runtime.js'

it('refuses calls that repeat, and agents beyond a number, as config.yaml says', async () => {
  await using home = await temporaryHome()
  const server = await startModelServer()
  const tool_loop_guardrails = {
    warn_after: { exact_failure: 9 },
    hard_stop_after: { exact_failure: 1 },
    loop_caps: { max_subagents: 1 },
  }
  const model = { default: 'm', base_url: server.baseUrl }
  await writeFile(join(home.path, 'config.yaml'), JSON.stringify({ model, tool_loop_guardrails }))
  const world = { env: {}, cwd: home.path, user: 'u', tempDir: home.path }
  const runtime = await openRuntime({ home: home.path, userHome: home.path, ...world })
  try {
    const missing = { toolCalls: [{ name: 'read_file', args: { path: 'none' } }] }
    server.enqueue(missing, missing, {
      toolCalls: [{ name: 'delegate_task', args: { tasks: [{ goal: 'a' }, { goal: 'b' }] } }],
    })
    server.enqueue({ text: 'Done.' })
    const { agent } = await runtime.createAgent({ platform: 'test' })
    expect(await agent.run('Go.').result).toMatchObject({ status: 'completed', text: 'Done.' })
    const results = server.requests
      .at(-1)!
      .body.messages.filter(({ role }) => role === 'tool')
      .map(({ content }) => String(content))
    expect(results[0]).not.toContain('failed 1 times')
    expect(results[1]).toContain('Not run: this call failed 1 times with the same arguments')
    expect(results[2]).toContain('Not run: a run starts 1 agents at most')
  } finally {
    await runtime.close()
    await server.close()
  }
})
