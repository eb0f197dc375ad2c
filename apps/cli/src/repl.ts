import { createInterface } from 'node:readline'
import type { Agent } from '@hermes/agent-core'
import type { SessionInfo } from '@hermes/contracts/store'
import type { Runtime } from '@hermes/runtime'
import type { ChatOptions } from './chat-options.js'
import { describeFailure, EXIT } from './errors.js'
import type { Io } from './io.js'
import { agentOptions } from './oneshot.js'
import { openCli } from './open-cli.js'
import { createProgressView } from './render/progress.js'
import { createRecap } from './render/recap.js'
import { createStyle, printable, wrap } from './render/style.js'
import { chooseSession } from './session-choice.js'
import { askQuestion, listenForApprovals } from './terminal-answers.js'

const HELP = `Type a task and press Enter.
  /new    start a new session
  /help   this text
  /exit   leave (also Ctrl-D)
  Ctrl-C  stop the run; twice: leave
`
const LEAVE_WITHIN_MS = 2_000

/** A plain conversation in the terminal, until the user leaves. */
export async function repl(io: Io, options: ChatOptions): Promise<number> {
  const runtime = await openCli(io, { surface: 'cli', yolo: options.yolo ?? false })
  const style = createStyle(io.stdout)
  try {
    const session = await chooseSession(await runtime.storage(), options)
    let agent = await newAgent(io, runtime, options, session)
    io.stdout.write(`${style.bold('Hermes')} ${style.dim(`with ${agent.model}. /help for help.`)}\n`)
    if (session) io.stdout.write(createRecap(agent.entries, io.stdout))
    const history: string[] = []
    for (;;) {
      const line = await readLine(io, `${style.green('>')} `, history)
      if (line === null) io.stdout.write('\n')
      if (line === null || line === '/exit' || line === '/quit') return EXIT.ok
      if (line === '') continue
      if (line === '/help') io.stdout.write(HELP)
      else if (line === '/new') {
        agent = await newAgent(io, runtime, options, null)
        io.stdout.write(style.dim('A new session.\n'))
      } else if (/^\/[a-z]+$/.test(line)) say(io, `Unknown command ${line}. Commands: /new, /help, /exit.`)
      else if ((await turn(io, agent.agent, line)) === 'leave') return EXIT.ok
    }
  } finally {
    await runtime.close()
  }
}

async function newAgent(io: Io, runtime: Runtime, options: ChatOptions, session: SessionInfo | null) {
  const { agent, model } = await runtime.createAgent({
    ...agentOptions(options),
    ...(session ? { session } : {}),
    ask: (question, { signal }) => askQuestion(io, question, signal),
  })
  listenForApprovals(io, runtime, agent.sessionId)
  const entries = session ? await (await runtime.storage()).entries(session.id) : []
  return { agent, entries, model }
}

/** One task to its end. Ctrl-C stops it and the conversation goes on; any other signal stops both. */
async function turn(io: Io, agent: Agent, text: string): Promise<'go on' | 'leave'> {
  const view = createProgressView({ output: io.stdout, text: true })
  let next: 'go on' | 'leave' = 'go on'
  const stopListening = io.onInterrupt((signal) => {
    if (signal !== 'SIGINT') next = 'leave'
    io.stdout.write('\n')
    agent.interrupt('interrupted from the terminal')
  })
  try {
    const run = agent.run(text)
    for await (const event of run) view.show(event)
    const result = await run.result
    if (result.status === 'interrupted') io.stdout.write('Stopped.\n')
    if (result.error) say(io, result.error.message)
  } catch (error) {
    io.stderr.write(`${describeFailure(error).line}\n`)
  } finally {
    stopListening()
  }
  return next
}

function say(io: Io, text: string): void {
  io.stdout.write(`${wrap(printable(text), io.stdout.columns())}\n`)
}

/** One line from the prompt; `null` at end of input, after Ctrl-C twice, and when a signal asks to end. */
function readLine(io: Io, prompt: string, history: string[]): Promise<string | null> {
  const lines = createInterface({
    input: io.stdin,
    output: process.stdout,
    prompt,
    history: [...history],
    terminal: true,
  })
  let interruptedAtMs = 0
  const stopListening = io.onInterrupt(() => lines.close())
  return new Promise((resolve) => {
    lines.once('line', (line) => {
      if (line.trim() !== '') history.unshift(line)
      resolve(line.trim())
      lines.close()
    })
    // After a line the promise is settled already: this is the end of input.
    lines.once('close', () => {
      stopListening()
      resolve(null)
    })
    lines.on('SIGINT', () => {
      const nowMs = Date.now()
      if (lines.line === '' && nowMs - interruptedAtMs < LEAVE_WITHIN_MS) return lines.close()
      interruptedAtMs = nowMs
      lines.write(null, { ctrl: true, name: 'e' })
      lines.write(null, { ctrl: true, name: 'u' })
      io.stdout.write('\nPress Ctrl-C again to leave.\n')
      lines.prompt()
    })
    lines.prompt()
  })
}
