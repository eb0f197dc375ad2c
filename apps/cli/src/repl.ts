import { join } from 'node:path'
import { homeLayout } from '@hermes/config'
import { createSessionHost } from '@hermes/host'
import type { Runtime } from '@hermes/runtime'
import { agentOptions, type ChatOptions, chosenAccount, chosenEffort, openOptions, withSkills } from './chat-options.js'
import { createFileFinder } from './editor/file-finder.js'
import { createHistory } from './editor/history.js'
import { EXIT, UsageError } from './errors.js'
import { editText } from './external-editor.js'
import { askForHooks, askForTrust } from './interactive/ask-about-folder.js'
import { Conversation, type Waiting } from './interactive/conversation.js'
import { openDisplay } from './interactive/display.js'
import { openConsole } from './interactive/open-console.js'
import type { OpenSession } from './interactive/open-session.js'
import { canAsk, type Io, type Output } from './io.js'
import { homeOf, loggerOf, openCli } from './open-cli.js'
import { createRecap } from './render/recap.js'
import { createStyle, printable, wrap } from './render/style.js'
import { chooseSession } from './session-choice.js'
import { refuseUnknownSkills } from './unknown-skills.js'

const NAME = 'Hermes'

/** A conversation in the terminal, until the person leaves; `/reload` opens the home anew and goes on. */
export async function repl(io: Io, options: ChatOptions): Promise<number> {
  if (options.image)
    throw new UsageError(
      '--image goes with a question: hermes chat --image FILE -q "…". In a conversation write @file:FILE.',
    )
  let carried: Carried | null = null
  do carried = await converse(io, options, carried)
  while (carried !== null)
  return EXIT.ok
}

/** What goes along when the home is opened anew. */
interface Carried {
  /** `null` for a session that nothing was said in. */
  readonly sessionId: string | null
  readonly yolo: boolean
  readonly waiting: readonly Waiting[]
}

/** The home, with what the project brings where the person trusts it. */
async function openHere(io: Io, options: ChatOptions): Promise<Runtime> {
  // The conversation answers for the person itself, so that /yolo can be turned on and off.
  const open = () => openCli(io, { yolo: false, ...openOptions(options) })
  let runtime = await open()
  if (!canAsk(io)) return runtime
  if (await askForTrust(io, runtime.trust)) {
    // Commands of its skills, its plugins and its servers come as a home is opened.
    await runtime.close()
    runtime = await open()
  }
  await askForHooks(io, runtime.hooks)
  return runtime
}

/** One conversation in the home as it is now; what goes along where it is to go on. */
async function converse(io: Io, chosen: ChatOptions, carried: Carried | null): Promise<Carried | null> {
  const options = carried === null ? chosen : againWith(chosen, carried)
  const runtime = await openHere(io, options)
  const host = createSessionHost({ runtime })
  let begun: Conversation | null = null
  let stopListening = () => {}
  const home = homeOf(io)
  const history = createHistory({ file: join(home, 'history.jsonl'), logger: loggerOf(home) })
  try {
    if (carried === null) await refuseUnknownSkills(runtime, options, io.cwd)
    const session = await chooseSession(io, await runtime.storage(), options)
    const settings = runtime.config.display
    const display = await openDisplay(settings, homeLayout(home).skins)
    const terminal = { ...io.stdout, look: () => display.look() }
    const conversation = new Conversation({
      runtime,
      host,
      request: agentOptions(options),
      yolo: options.yolo ?? false,
      plan: options.plan ?? false,
      title: session === null && options.createIfMissing ? (options.resume ?? null) : null,
      ...(options.skills === undefined ? {} : { firstWords: withSkills(options.skills) }),
      ...(options.reasoning ? { reasoningEffort: chosenEffort(options.reasoning) } : {}),
      ...(options.account !== undefined ? { account: chosenAccount(options.account) } : {}),
      showsThoughts: settings.show_reasoning,
      display,
      waiting: carried?.waiting ?? [],
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
    const signals = { env: io.env, bellAfterMs: settings.bell * 1_000 }
    const keys = { keys: display.keys.stands, isVi: display.isVi }
    const look = { fields: display.fields, isStill: display.isSpoken, ...keys }
    const console = openConsole(io, { terminal, handlers: conversation, input, signals, ...look })
    stopListening = listenForSignals(io, conversation)
    try {
      await conversation.run(console, session, (opened) => {
        if (carried === null) greet(console.output, opened, session === null ? 0 : display.exchanges)
        else conversation.say(`Read anew: configuration, keys, extensions and plugins. On with ${opened.model}.`)
        for (const problem of display.problems) conversation.say(problem)
      })
    } finally {
      console.close()
      files.close()
    }
    const { agent } = conversation.session
    const isStored = agent.entries().length > 0 || session !== null
    if (conversation.isReloading) return { ...conversation.carried, sessionId: isStored ? agent.sessionId : null }
    if (agent.entries().length > 0)
      io.stdout.write(`${createStyle(terminal).dim(`Go on later with: hermes -r ${agent.sessionId}`)}\n`)
    return null
  } finally {
    await host.settle()
    await runtime.close(begun?.endReason)
    // A terminal that went away may say so twice, by its end and by a signal.
    stopListening()
  }
}

/** The same flags, but for what was meant for the beginning. */
function againWith(chosen: ChatOptions, { sessionId, yolo }: Carried): ChatOptions {
  const { continue: _, resume, any: __, reasoning: ___, plan: ____, createIfMissing, ...lasting } = chosen
  const unsaid = createIfMissing && resume !== undefined ? { resume, createIfMissing } : {}
  return { ...lasting, yolo, ...(sessionId === null ? unsaid : { resume: sessionId }) }
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

function greet(output: Output, opened: OpenSession, exchanges: number): void {
  const style = createStyle(output)
  const [first = '', ...rows] = wrap(
    `${NAME} with ${printable(opened.model)}. /help for help.`,
    output.columns(),
  ).split('\n')
  const head = `${style.bold(NAME)}${style.dim(first.slice(NAME.length))}`
  output.write(`${[head, ...rows.map(style.dim)].join('\n')}\n`)
  output.write(createRecap(opened.entries, exchanges, output))
}
