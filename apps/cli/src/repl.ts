import { join } from 'node:path'
import { createSessionHost } from '@hermes/host'
import { agentOptions, type ChatOptions, chosenEffort, openOptions } from './chat-options.js'
import { createFileFinder } from './editor/file-finder.js'
import { createHistory } from './editor/history.js'
import { EXIT, UsageError } from './errors.js'
import { editText } from './external-editor.js'
import { askAboutFolder } from './interactive/ask-about-folder.js'
import { Conversation } from './interactive/conversation.js'
import { openConsole } from './interactive/open-console.js'
import type { OpenSession } from './interactive/open-session.js'
import { canAsk, type Io } from './io.js'
import { homeOf, loggerOf, openCli } from './open-cli.js'
import { createRecap } from './render/recap.js'
import { createStyle } from './render/style.js'
import { chooseSession } from './session-choice.js'

/** A conversation in the terminal, until the person leaves. */
export async function repl(io: Io, options: ChatOptions): Promise<number> {
  if (options.image)
    throw new UsageError(
      '--image goes with a question: hermes chat --image FILE -q "…". In a conversation write @file:FILE.',
    )
  // The conversation answers for the person itself, so that /yolo can be turned on and off.
  const runtime = await openCli(io, { yolo: false, ...openOptions(options) })
  if (canAsk(io)) await askAboutFolder(io, runtime)
  const host = createSessionHost({ runtime })
  let begun: Conversation | null = null
  let stopListening = () => {}
  const home = homeOf(io)
  const history = createHistory({ file: join(home, 'history.jsonl'), logger: loggerOf(home) })
  try {
    const session = await chooseSession(io, await runtime.storage(), options)
    const conversation = new Conversation({
      runtime,
      host,
      request: agentOptions(options),
      yolo: options.yolo ?? false,
      plan: options.plan ?? false,
      ...(options.reasoning ? { reasoningEffort: chosenEffort(options.reasoning) } : {}),
      showsThoughts: runtime.config.display.show_reasoning,
      busyMode: runtime.config.display.busy_input_mode,
      user: io.user,
      userHome: io.userHome,
      place: io,
      remember: (line) => void history.add(line),
    })
    begun = conversation
    const complete = (line: string) => conversation.complete(line)
    const files = createFileFinder((signal) => conversation.session.files(signal))
    const sessions = () => conversation.sessionCandidates()
    const sources = { complete, files, sessions, cwd: io.cwd, userHome: io.userHome }
    const input = { sources, history: await history.load(), editText: (text: string) => editText(io, text) }
    const signals = { env: io.env, bellAfterMs: runtime.config.display.bell * 1_000 }
    const console = openConsole(io, { terminal: io.stdout, handlers: conversation, input, signals })
    stopListening = listenForSignals(io, conversation)
    try {
      await conversation.run(console, session, (opened) => greet(console.output, opened, session !== null))
    } finally {
      console.close()
      files.close()
    }
    const { agent } = conversation.session
    if (agent.entries().length > 0)
      io.stdout.write(`${createStyle(io.stdout).dim(`Go on later with: hermes -r ${agent.sessionId}`)}\n`)
    return EXIT.ok
  } finally {
    await host.settle()
    await runtime.close(begun?.endReason)
    // A terminal that went away may say so twice, by its end and by a signal.
    stopListening()
  }
}

/** Every interrupt is a first one: what a second one means is for the conversation to say. */
function listenForSignals(io: Io, conversation: Conversation): () => void {
  const listen = () =>
    io.onInterrupt((signal) => {
      if (signal !== 'SIGINT') return conversation.leave(signal.toLowerCase())
      conversation.onInterrupt()
      stop()
      stop = listen()
    })
  let stop = listen()
  return () => stop()
}

function greet(output: Io['stdout'], opened: OpenSession, isResumed: boolean): void {
  const style = createStyle(output)
  output.write(`${style.bold('Hermes')} ${style.dim(`with ${opened.model}. /help for help.`)}\n`)
  if (isResumed) output.write(createRecap(opened.entries, output))
}
