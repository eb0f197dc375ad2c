import { mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { JsonObject } from '@hermes/contracts'
import { describe, expect, it } from 'vitest'
import { call, createToolContext, type TestContextOptions, temporaryEnvironment } from './__fixtures__/test-context.js'
import { createTerminalTool, defaultToolSettings } from './index.js'

async function setup(options: Partial<TestContextOptions> = {}, settings = defaultToolSettings) {
  const { folder, environment } = await temporaryEnvironment()
  const context = createToolContext({ environment, ...options })
  const tool = createTerminalTool(settings)
  return { folder, context, run: (command: string, more: JsonObject = {}) => call(tool, { command, ...more }, context) }
}

describe('terminal', () => {
  it('gives plain output alone when a command succeeds', async () => {
    const { run, folder } = await setup()
    const result = await run('printf "\\033[31mred\\033[0m\\nplain\\n"; echo error >&2')
    expect(result.text).toBe('red\nplain\nerror')
    expect(result.isError).toBe(false)
    expect(result.data).toMatchObject({ output: 'red\nplain\nerror', exit_code: 0, cwd: folder })
    expect((await run('true')).text).toBe('(no output)')
  })

  it('adds exit code, meaning and time when it is not zero', async () => {
    const { run } = await setup()
    const result = await run('echo abc | grep xyz')
    expect(result.text).toMatch(/^\[exit 1: no lines matched; not an error · \d+\.\d s\]$/)
    expect(result.isError).toBe(false)
    expect(result.data).toMatchObject({ exit_code: 1, exit_code_meaning: expect.stringContaining('no lines matched') })
    expect((await run('echo failed; exit 7')).text).toMatch(/^failed\n\[exit 7 · /)
    expect((await run('kill -9 $$')).text).toMatch(/SIGKILL|exit 137/)
  })

  it('keeps directory and variables, and says when the directory changes', async () => {
    const { run, folder } = await setup()
    await mkdir(join(folder, 'sub'))
    expect((await run('cd sub && export COLOUR=blue')).text).toBe(`[cwd ${join(folder, 'sub')}]`)
    expect((await run('echo $COLOUR; pwd')).text).toBe(`blue\n${join(folder, 'sub')}`)
  })

  it('runs elsewhere once with workdir', async () => {
    const { run, folder, context } = await setup()
    await mkdir(join(folder, 'sub dir'))
    expect((await run('pwd', { workdir: 'sub dir' })).text).toBe(join(folder, 'sub dir'))
    expect((await run('pwd')).text).toBe(folder)
    const missing = await run('pwd', { workdir: 'nowhere' })
    expect(missing).toMatchObject({ isError: true, text: `workdir ${join(folder, 'nowhere')} is not a directory.` })
    expect(context.permitted.map((action) => action.type === 'spawn' && action.cwd)).toEqual([
      join(folder, 'sub dir'),
      folder,
    ])
  })

  it('asks for a permit for exactly the command it planned', async () => {
    const { run, context, folder } = await setup()
    const args = { command: 'echo hi', background: false }
    const planned = createTerminalTool().actions?.(args, context)
    await run('echo hi')
    expect(context.permitted).toEqual(planned)
    expect(planned).toEqual([{ type: 'spawn', command: 'echo hi', cwd: folder, backend: 'local' }])
    const denied = await setup({ deny: () => true })
    expect(await denied.run('touch made')).toMatchObject({ isError: true, text: 'Not allowed here.' })
    await expect(readFile(join(denied.folder, 'made'))).rejects.toThrow('ENOENT')
  })

  it('kills a command at its time limit and says what to do next', async () => {
    const { run } = await setup()
    const result = await run('echo started; sleep 60', { timeout: 0.3 })
    expect(result.isError).toBe(true)
    expect(result.text).toMatch(/^started\n\[killed after 0\.3 s\. .*background=true/)
    expect(result.data).toMatchObject({ timed_out: true })
  })

  it('returns what there is when it is interrupted', async () => {
    const controller = new AbortController()
    const { folder, environment } = await temporaryEnvironment()
    const context = createToolContext({ environment, signal: controller.signal })
    const watched = { ...context, progress: () => controller.abort() }
    const result = await call(createTerminalTool(), { command: 'echo started; sleep 60' }, watched)
    expect(result.text).toBe('started\n[interrupted by the user]')
    expect(result.data).toMatchObject({ interrupted: true, cwd: folder })
  })

  it('points to the full text when output is cut', async () => {
    const { run } = await setup({}, { ...defaultToolSettings, outputMaxBytes: 1000 })
    const result = await run('seq 1 5000')
    expect(result.text).toMatch(/^1\n2\n/)
    expect(result.text).toMatch(/5000\n\[output cut: 23893 bytes, all of it in .+\]$/)
    const full = await readFile(result.data['full_output_path'] as string, 'utf8')
    expect(full.trimEnd().split('\n')).toHaveLength(5000)
  })

  it('refuses a time limit beyond ten minutes and advises the background', async () => {
    const { run, context } = await setup()
    const result = await run('true', { timeout: 601 })
    expect(result).toMatchObject({ isError: true, text: expect.stringContaining('background=true') })
    expect(context.permitted).toEqual([])
  })

  it('steers detached commands to the background', async () => {
    const { run, context } = await setup()
    for (const command of [
      'sleep 1 &',
      'nohup sleep 1',
      'cd x && setsid sleep 1 > log',
      'sleep 1 2>&1 & ',
      'a & disown',
    ]) {
      expect((await run(command)).text).toContain('background=true')
    }
    expect((await run('sleep 1 &', { background: true })).text).toContain('Leave the trailing "&" out')
    expect(context.permitted).toEqual([])
    for (const command of [
      'true && true',
      'echo "a &"',
      "echo 'nohup x' | cat",
      'true 2>&1',
      'sleep 0 & wait',
      'echo nohup',
    ]) {
      expect((await run(command)).isError).toBe(false)
    }
  })

  it('starts background processes at once', async () => {
    const { run, context, folder } = await setup()
    await mkdir(join(folder, 'sub'))
    const result = await run('pwd; cat', { background: true, workdir: 'sub' })
    const { session_id, pid } = result.data
    expect(result.text).toBe(
      `Started in the background: session_id ${session_id}, pid ${pid}. Use process to poll, wait for, read or kill it. You will not be told when it ends; notify_on_complete=true would do that.`,
    )
    expect(context.environment.processes().map((process) => process.info().cwd)).toEqual([join(folder, 'sub')])
  })

  it('shows the newest line as it comes, at most ten times a second', async () => {
    let nowMs = 0
    const clock = { ...defaultToolSettings.clock, now: () => nowMs }
    const { run, context } = await setup({}, { ...defaultToolSettings, clock })
    await run('echo two')
    expect(context.shown).toEqual(['two'])
    nowMs = 1000
    await run('seq 1 1000')
    expect(context.shown).toHaveLength(2)
  })

  it('refuses a blank command', async () => {
    const { run } = await setup()
    expect(await run('  ')).toMatchObject({ isError: true, text: 'command is blank.' })
    expect(await run(`echo ${'x'.repeat(131_072)}`)).toMatchObject({
      isError: true,
      text: 'command has 131077 characters, and a shell takes 131072 at most; write the text into a file and use that.',
    })
  })
})
