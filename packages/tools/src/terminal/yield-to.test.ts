import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { systemClock } from '@hermes/contracts'
import { describe, expect, it } from 'vitest'
import { call, createToolContext, temporaryEnvironment } from '../__fixtures__/test-context.js'
import { createTerminalTool, defaultToolSettings } from '../index.js'

/** A clock that has no patience, and counts how often it was asked for some. */
function hasty() {
  const requested: number[] = []
  const sleep = (ms: number, signal?: AbortSignal) => {
    requested.push(ms)
    return ms === 2_000 ? Promise.resolve() : systemClock.sleep(ms, signal)
  }
  return { clock: { ...systemClock, sleep }, requested }
}

async function setUp() {
  const { environment } = await temporaryEnvironment()
  const user = new AbortController()
  const { clock, requested } = hasty()
  const base = createToolContext({ environment })
  const tool = createTerminalTool({ ...defaultToolSettings, clock })
  const run = (command: string, progress: (text: string) => void = () => undefined) =>
    call(tool, { command }, { ...base, progress, steered: user.signal })
  return { environment, user, requested, run, base }
}

describe('a command during which the user says something', () => {
  it('goes on in the background, and the model is told when it ends', async () => {
    const { environment, user, run, base } = await setUp()
    const { text, data, isError } = await run(
      'echo begun; while [ ! -e go ]; do sleep 0.02; done; echo done',
      (line) => {
        if (line === 'begun') user.abort()
      },
    )
    expect(isError).toBe(false)
    expect(text).toBe(
      `begun\n[the user wrote, so the command goes on in the background: session_id ${data['session_id']}, pid ${data['pid']}. You will be told when it ends.]`,
    )
    expect(data).toMatchObject({ yielded: true, exit_code: null })
    const [process] = environment.processes()
    const ended = new Promise((resolve) => process!.observe({ onExit: resolve }))
    // Not by a command: the user has written, and one that is slow would go on in the background too.
    await writeFile(join(environment.cwd(), 'go'), '')
    await ended
    expect(base.notices()).toEqual([expect.stringMatching(/exited with 0\. Its newest output:\nbegun\ndone/)])
  })

  it('ends as ever where it takes no longer than a moment', async () => {
    const { user, run, environment, requested } = await setUp()
    const { data } = await run('echo quick')
    expect(data).toMatchObject({ output: 'quick', exit_code: 0 })
    user.abort()
    expect(requested).not.toContain(2_000)
    expect(environment.processes()).toEqual([])
  })
})
