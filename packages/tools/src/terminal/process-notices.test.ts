import type { JsonObject } from '@hermes/contracts'
import type { BackgroundProcess } from '@hermes/contracts/environment'
import { scriptPty } from '@hermes/sandbox/testing'
import { describe, expect, it } from 'vitest'
import { call, createToolContext, type TestContextOptions, temporaryEnvironment } from '../__fixtures__/test-context.js'
import { createProcessTool, createTerminalTool, defaultToolSettings } from '../index.js'

async function setup(options: Partial<TestContextOptions> & { readonly pty?: boolean } = {}) {
  const { environment } = await temporaryEnvironment(options.pty ? { loadPty: async () => scriptPty } : {})
  const context = createToolContext({ environment, ...options })
  let nowMs = 0
  const settings = { ...defaultToolSettings, clock: { ...defaultToolSettings.clock, now: () => nowMs } }
  return {
    context,
    tick: (ms: number) => {
      nowMs += ms
    },
    run: (command: string, more: JsonObject = {}) => call(createTerminalTool(settings), { command, ...more }, context),
    manage: (action: string, more: JsonObject = {}) => call(createProcessTool(), { action, ...more }, context),
    process: () => context.environment.processes()[0]!,
  }
}

/** Resolves once observers that were there before have been told of the end. */
const notified = async (process: BackgroundProcess) => {
  await process.wait()
  await new Promise<unknown>((onExit) => process.observe({ onExit }))
}

/** Resolves once an observer that came last has heard `text`. */
const heard = (process: BackgroundProcess, text: string) =>
  new Promise<void>((resolve) => {
    let all = ''
    process.observe({
      onOutput: (piece) => {
        all += piece
        if (all.includes(text)) resolve()
      },
    })
  })

describe('notify_on_complete', () => {
  it('tells once how the process ended and what it wrote last', async () => {
    const { context, run, process } = await setup()
    const result = await run('seq 1 2000; exit 3', { background: true, notify_on_complete: true })
    expect(result.text).toContain('You will be told when it ends')
    await notified(process())
    const [notice, ...more] = context.notices()
    const { id } = process().info()
    expect(notice).toMatch(
      new RegExp(`^\\[Background process ${id} \\(seq 1 2000; exit 3\\) exited with 3\\. Its newest output:\\n`),
    )
    expect(notice).toMatch(/\n1999\n2000\]$/)
    expect(notice!.length).toBeLessThan(2200)
    expect(more).toEqual([])
    expect(context.taken).toMatchObject([
      {
        text: notice,
        isExternal: true,
        sources: [{ type: 'command', command: 'seq 1 2000; exit 3', reach: 'machine' }],
      },
    ])
  })

  it.each(['poll', 'log', 'wait', 'kill'])('tells nothing that %s has shown', async (action) => {
    const { context, run, manage, process } = await setup()
    await run('echo done', { background: true, notify_on_complete: true })
    await notified(process())
    await manage(action, { session_id: process().info().id })
    expect(context.notices()).toEqual([])
  })

  it('still tells the end after a look that came before it', async () => {
    const { context, run, manage, process } = await setup()
    await run('read line', { background: true, notify_on_complete: true })
    const { id: session_id } = process().info()
    await manage('poll', { session_id })
    await manage('submit', { session_id, data: 'go' })
    await notified(process())
    expect(context.notices()).toEqual([expect.stringContaining('exited with 0. It wrote nothing.')])
    expect(context.taken.map(({ isExternal }) => isExternal)).toEqual([false])
  })

  it('goes before watch_patterns, which it names as left out', async () => {
    const { context, run, process } = await setup()
    const { text } = await run('echo match', { background: true, notify_on_complete: true, watch_patterns: ['match'] })
    expect(text).toContain('watch_patterns are left out')
    await notified(process())
    expect(context.notices()).toEqual([expect.stringContaining('exited with 0')])
  })

  it('is refused where nobody would read it, and in the foreground', async () => {
    const remote = await setup({ unreachable: true })
    expect((await remote.run('true', { background: true, notify_on_complete: true })).text).toContain(
      'cannot work here',
    )
    expect((await remote.run('true', { background: true, watch_patterns: ['x'] })).text).toContain('cannot work here')
    expect(remote.context.permitted).toEqual([])
    const { run } = await setup()
    expect((await run('true', { notify_on_complete: true })).text).toContain('need background=true')
    expect((await run('true', { notify_on_complete: false, watch_patterns: [] })).isError).toBe(false)
  })
})

describe('watch_patterns', () => {
  it('tells of lines that match, once in fifteen seconds, and of the rest at the end', async () => {
    const { context, run, tick, process } = await setup()
    await run('while read -r line; do echo "said $line"; done', {
      background: true,
      watch_patterns: ['ERROR', 'ready'],
    })
    const say = async (line: string) => {
      const answer = heard(process(), `said ${line}\n`)
      process().write(`${line}\n`)
      await answer
    }
    const { id } = process().info()
    await say('hello')
    await say('ready 1')
    expect(context.notices()).toEqual([`[Background process ${id} wrote:\nsaid ready 1]`])
    await say('ERROR 2')
    expect(context.notices()).toEqual([])
    tick(15_000)
    await say('ERROR 3')
    expect(context.notices()).toEqual([`[Background process ${id} wrote:\nsaid ERROR 2\nsaid ERROR 3]`])
    await say('ERROR 4')
    process().closeInput()
    await notified(process())
    expect(context.notices()).toEqual([`[Background process ${id} wrote:\nsaid ERROR 4]`])
    expect(context.taken.map(({ isExternal }) => isExternal)).toEqual([true, true, true])
  })

  it('becomes a notice of the end where there are too many matches', async () => {
    const { context, run, tick, process } = await setup()
    await run('while read -r line; do echo "x $line"; done', { background: true, watch_patterns: ['x'] })
    const notices: string[] = []
    for (let line = 0; line < 6; line++) {
      const answer = heard(process(), `x ${line}\n`)
      process().write(`${line}\n`)
      await answer
      notices.push(...context.notices())
      if (line % 2 === 1) tick(15_000)
    }
    expect(notices).toHaveLength(4)
    expect(notices.at(-1)).toContain('the watch is over')
    process().closeInput()
    await notified(process())
    expect(context.notices()).toEqual([expect.stringContaining('exited with 0')])
  })
})

describe('pty', () => {
  it('runs interactive programs, submits with a carriage return and closes their input', async () => {
    const { run, manage, process } = await setup({ pty: true })
    await run('test -t 0 && echo terminal; read -r a; echo "got $a"; cat; echo over', { background: true, pty: true })
    const { id: session_id } = process().info()
    expect(process().info().pty).toBe(true)
    const answer = heard(process(), 'got it')
    await manage('submit', { session_id, data: 'it' })
    await answer
    await manage('close', { session_id })
    const { text } = await manage('wait', { session_id })
    expect(text).toMatch(/terminal[\s\S]*got it[\s\S]*over/)
  })

  it('runs a foreground command to its end', async () => {
    const { run } = await setup({ pty: true })
    expect(await run('test -t 1 && echo terminal; exit 4', { pty: true })).toMatchObject({
      text: expect.stringMatching(/^terminal\n\[exit 4 · /),
      data: { exit_code: 4 },
    })
    expect((await run('sleep 60', { pty: true, timeout: 0.2 })).data).toMatchObject({ timed_out: true })
  })

  it('is left out where there is none, and the answer says so', async () => {
    const { environment } = await temporaryEnvironment({ loadPty: () => Promise.reject(new Error('not built')) })
    const context = createToolContext({ environment })
    const tool = createTerminalTool()
    const foreground = await call(tool, { command: 'cat; echo plain', pty: true }, context)
    expect(foreground.text).toMatch(/^plain\n\[There is no pseudo-terminal here/)
    const background = await call(tool, { command: 'true', pty: true, background: true }, context)
    expect(background.text).toContain('There is no pseudo-terminal here')
  })
})
