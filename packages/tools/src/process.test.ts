import type { JsonObject } from '@hermes/contracts'
import { describe, expect, it } from 'vitest'
import { call, createToolContext, type TestContextOptions, temporaryEnvironment } from './__fixtures__/test-context.js'
import { createProcessTool, createTerminalTool } from './index.js'

async function setup(options: Partial<TestContextOptions> = {}) {
  const { folder, environment } = await temporaryEnvironment()
  const context = createToolContext({ environment, ...options })
  const tool = createProcessTool()
  const manage = (action: string, more: JsonObject = {}) => call(tool, { action, ...more }, context)
  const start = async (command: string) => {
    const result = await call(createTerminalTool(), { command, background: true }, context)
    return result.data['session_id'] as string
  }
  return { folder, context, manage, start }
}

describe('process', () => {
  it('waits for the end and gives status and output', async () => {
    const { manage, start } = await setup()
    const session_id = await start('echo done; exit 3')
    const result = await manage('wait', { session_id })
    expect(result.text).toMatch(new RegExp(`^${session_id} exited with 3\\.\\ndone$`))
    expect(result.data).toMatchObject({ session_id, status: 'exited', exit_code: 3, output: 'done' })
  })

  it('goes on waiting for nobody when time runs out', async () => {
    const { manage, start } = await setup()
    const session_id = await start('echo up; cat')
    const result = await manage('wait', { session_id, timeout: 0.2 })
    expect(result.text).toContain('still runs after 0.2 s')
    expect(result.data).toMatchObject({ status: 'running' })
  })

  it('sends input, closes it and takes a unique beginning of an id', async () => {
    const { manage, start, context, folder } = await setup()
    const session_id = await start('cat')
    const short = session_id.slice(0, -1)
    await manage('write', { session_id: short, data: 'one ' })
    await manage('submit', { session_id: short, data: 'two' })
    expect(context.permitted.slice(1)).toEqual([
      { type: 'spawn', command: 'one ', cwd: folder, backend: 'local' },
      { type: 'spawn', command: 'one two', cwd: folder, backend: 'local' },
    ])
    expect((await manage('close', { session_id })).text).toContain('closed')
    expect((await manage('wait', { session_id })).data).toMatchObject({ output: 'one two', exit_code: 0 })
    expect((await manage('submit', { session_id, data: 'x' })).text).toContain('takes no input any more')
  })

  it('sends nothing that the policy denies', async () => {
    const { manage, start } = await setup({
      deny: (action) => action.type === 'spawn' && action.command.includes('rm -rf /'),
    })
    const session_id = await start('cat')
    await manage('write', { session_id, data: 'rm -rf' })
    expect(await manage('submit', { session_id, data: ' /' })).toMatchObject({
      isError: true,
      text: 'Not allowed here.',
    })
    await manage('close', { session_id })
    expect((await manage('wait', { session_id })).data).toMatchObject({ output: 'rm -rf' })
  })

  it('pages the log, the last lines first', async () => {
    const { manage, start } = await setup()
    const session_id = await start('seq 1 500')
    await manage('wait', { session_id })
    const last = await manage('log', { session_id })
    expect(last.text).toMatch(/^301\n302\n/)
    expect(last.text).toMatch(new RegExp(`\n500\n\\[${session_id}: lines 301-500 of 500\\]$`))
    const page = await manage('log', { session_id, offset: 10, limit: 2 })
    expect(page.data).toMatchObject({ output: '10\n11', total_lines: 500, showing: 'lines 10-11 of 500' })
    expect((await manage('log', { session_id, offset: 600 })).text).toContain('has 500 lines')
  })

  it('kills a running process and says so when it had ended', async () => {
    const { manage, start } = await setup()
    const session_id = await start('sleep 600')
    expect((await manage('kill', { session_id })).text).toBe(`${session_id} is killed.`)
    expect((await manage('kill', { session_id })).text).toContain('had ended already')
    expect((await manage('poll', { session_id })).data).toMatchObject({ status: 'exited' })
  })

  it('lists what there is', async () => {
    const { manage, start } = await setup()
    expect((await manage('list')).text).toBe('There are no background processes.')
    const session_id = await start('sleep 600\n# second line')
    const { text, data } = await manage('list')
    expect(text).toMatch(new RegExp(`^${session_id} {2}running for \\d+ s, pid \\d+ {2}sleep 600$`))
    expect(data['processes']).toMatchObject([{ session_id, status: 'running' }])
  })

  it('names the processes there are when the id is wrong or missing', async () => {
    const { manage, start } = await setup()
    const session_id = await start('cat')
    expect((await manage('poll')).text).toBe(`session_id is missing. Known: ${session_id}.`)
    expect((await manage('poll', { session_id: 'nope' })).text).toContain(`Known: ${session_id}.`)
    expect((await manage('submit', { session_id })).text).toContain('data is missing')
    expect((await manage('stop', { session_id })).text).toContain('action')
  })
})
