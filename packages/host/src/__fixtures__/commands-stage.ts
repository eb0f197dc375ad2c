// A home whose sessions are used by commands, as entry points use them.
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { runCommand } from '@hermes/commands'
import type { CommandCaller, CommandOutput } from '@hermes/contracts/extension'
import { openRuntime, type Runtime } from '@hermes/runtime'
import { type CapturedRequest, createFakeClock, startModelServer, temporaryHome } from '@hermes/testkit'
import { onTestFinished } from 'vitest'
import { openCommandContext } from '../command-context.js'
import { createSessionHost, type OpenRequest, type SessionHandle } from '../index.js'

const CONFIG = `auxiliary: {session_summary: {enabled: false}, title_generation: {enabled: false}}
terminal: {isolation: "off"}
memory: {flush_min_turns: 0}
goals: {max_turns: 3}
`
const CALLER: CommandCaller = { platform: 'cli', user: 'ada', isOwner: true, changes: ['send'] }

type Verdict = (turn: number) => string | Promise<string>

/** A home whose model answers with the number of its turn; `judge` gives the verdict on each. */
export async function stage(judge: Verdict, config = '') {
  const [server, temporary] = [await startModelServer(), await temporaryHome()]
  const home = join(temporary.path, '.hermes')
  await mkdir(home)
  await writeFile(join(home, 'config.yaml'), `${CONFIG}${config}`)
  const turns: CapturedRequest[] = []
  const judged: string[] = []
  server.setHandler(async (request) => {
    const text = JSON.stringify(request.body.messages)
    if (text.includes('You were started by another agent')) return { text: 'Three apples.' }
    if (!text.includes('You judge whether')) return { text: `Turn ${turns.push(request)}.` }
    judged.push(text)
    return { text: await judge(judged.length) }
  })
  const clock = createFakeClock(Date.parse('2026-03-01T12:00:00Z'))
  const enter = async () => {
    const world = { env: { PATH: '/usr/bin:/bin' }, cwd: temporary.path, user: 'ada', tempDir: temporary.path, clock }
    const runtime = await openRuntime({ home, userHome: temporary.path, ...world })
    const host = createSessionHost({ runtime, clock })
    onTestFinished(async () => {
      await host.close()
      await runtime.close()
    })
    return { runtime, host }
  }
  onTestFinished(async () => {
    await server.close()
    await temporary.remove()
  })
  return { server, clock, turns, judged, enter, folder: temporary.path }
}

type Entered = Awaited<ReturnType<Awaited<ReturnType<typeof stage>>['enter']>>

/** A session with what it says at rest, `rest` being the next such line. */
export function open({ host }: Entered, baseUrl: string, request: Partial<OpenRequest> = {}) {
  const lines: string[] = []
  let heard: (line: string) => void = () => undefined
  const handle = host.open({
    ...{ platform: 'cli', permissions: 'deny', baseUrl, model: 'm' },
    onRest: (line) => {
      lines.push(line)
      heard(line)
    },
    ...request,
  })
  const until = (part: string) =>
    new Promise<void>((resolve) => {
      heard = (line) => line.includes(part) && resolve()
      if (lines.some((line) => line.includes(part))) resolve()
    })
  return { handle, lines, until }
}

/** Types a command and does what it asks for. */
export async function type(runtime: Runtime, handle: SessionHandle, line: string): Promise<string> {
  const options = { caller: CALLER, cwd: '/', isBusy: () => false, notice: () => undefined }
  const context = await openCommandContext({ ...options, runtime, handle, signal: new AbortController().signal })
  const [, name, args = ''] = /^\/(\w+)\s*(.*)$/.exec(line)!
  const outputs: readonly CommandOutput[] = await runCommand(
    context.commands.find((command) => command.name === name)!,
    args,
    context,
  )
  const shown: string[] = []
  for (const output of outputs) {
    if (output.type === 'text') shown.push(output.text)
    if (output.type === 'table') shown.push(...output.rows.map(({ cells }) => cells.join(' | ')))
    if (output.type === 'change' && output.change.type === 'send') await handle.send(output.change.text).result
  }
  return shown.join('\n')
}

