import { realpath, stat } from 'node:fs/promises'
import { basename, join, relative, sep } from 'node:path'
import { HermesError, type JsonObject } from '@hermes/contracts'
import type { Action } from '@hermes/contracts/policy'
import { defineTool, type ToolContext, type ToolPlanContext, type ToolResult } from '@hermes/contracts/tool'
import type { Aliases } from '../aliases.js'
import type { Delivery } from '../deliver.js'
import { HOME_CHANNEL, type Messaging } from '../messaging.js'
import { namedFiles } from '../named-files.js'
import type { Outgoing } from '../outbox-sender.js'
import type { sendToSession } from '../session-mail.js'

const MAX_CHARS = 20_000

const parameters = {
  type: 'object',
  properties: {
    action: { type: 'string', enum: ['send', 'list'], default: 'send' },
    target: {
      type: 'string',
      description: 'PLATFORM for its home channel, PLATFORM:CHAT or PLATFORM:CHAT:THREAD, as list shows them',
    },
    message: { type: 'string', description: 'Markdown; a line MEDIA:/absolute/path sends a file' },
  },
} as const

interface Args {
  readonly action?: 'send' | 'list'
  readonly target?: string
  readonly message?: string
}

/** What a tool that writes into chats needs of a home. */
export interface PlatformToolServices {
  /** `null` where the home has no account on a chat platform. */
  readonly messaging: MessagingService | null
}

/** The chats of a home, for its sessions. */
export interface MessagingService {
  /** Loaded on first use. */
  readonly open: () => Promise<Messaging>
  /** Whose a session is (`null`: the owner's), and what it is called for those who are written to. */
  readonly about: (sessionId: string) => Promise<{ readonly person: string | null; readonly name: string }>
  /** Words of a session to another one. @throws as {@link sendToSession} */
  readonly sendToSession: (mail: Parameters<typeof sendToSession>[1]) => ReturnType<typeof sendToSession>
  /** What models get in place of ids; `null` where they get those. The same at each call. */
  readonly aliases: () => Promise<Aliases | null>
  readonly redact: (text: string) => string
  /** Where sessions put what is meant to leave: a folder for each. Absolute. */
  readonly outputs: string
}

/** Writes to people and chats that agreed to hear from the agent. */
export const createSendMessageTool = ({ messaging }: PlatformToolServices) =>
  defineTool<Args>({
    name: 'send_message',
    toolset: 'messaging',
    description:
      'Send a message or a file to a chat of the person (Telegram, email), or to somebody who agreed to hear from you; list says to whom. Only when the person wants it: your answer here reaches them anyway.',
    parameters,
    effect: 'write',
    onlyLooks: ({ action = 'send' }) => action === 'list',
    concurrency: 'exclusive',
    icon: '✉️',
    available: () => messaging !== null,
    summarize: ({ action = 'send', target = '', message = '' }) =>
      action === 'list' ? 'list who can be written to' : `send to ${target}: ${message}`,
    actions: async (args, context) => (messaging ? actionsOf(args, context, messaging) : []),
    denialFor: async (reason) => (await messaging?.aliases())?.masked(reason) ?? reason,
    async execute(args, context) {
      if (!messaging) return failure('No chat platform is set up. Say so; the person can: hermes gateway setup')
      if (args.action === 'list') return list(messaging, context)
      const masked = await messaging.aliases()
      try {
        return await send(messaging, args, context)
      } catch (error) {
        if (!masked || !HermesError.isInstance(error)) throw error
        return failure(masked.masked(error.message))
      }
    },
  })

/** The message, and what else leaves: a file of another place, and any once text from outside was read, is asked about by itself. */
async function actionsOf(
  { action = 'send', target = '', message = '' }: Args,
  context: ToolPlanContext,
  messaging: MessagingService,
): Promise<readonly Action[]> {
  if (action === 'list' || target.trim() === '') return []
  // Rules and people know ids, not aliases.
  const to = await addressOf(messaging, target.trim(), context.sessionId)
  if (to === null) return []
  const inPlace = (path: string) => placeOf(path, placesOf(context, messaging.outputs)) !== undefined
  return [
    { type: 'send', target: to },
    ...namedFiles(message).paths.flatMap((path): readonly Action[] => {
      const goes = !context.isTainted && inPlace(path)
      const read = { type: 'read', path, backend: 'local' } as const
      return goes ? [read] : [read, { type: 'send', target: `file ${path} to ${to}` }]
    }),
  ]
}

/** What the model means by a target; `null` for an alias of nobody that its person may write to. */
async function addressOf(
  { aliases, open, about }: MessagingService,
  target: string,
  sessionId: string,
): Promise<string | null> {
  const masked = await aliases()
  if (masked === null) return target
  const known = masked.resolve(target)
  if (known !== null) return known
  // Given out by another process: the same ids have the same aliases in each.
  const { person } = await about(sessionId)
  for (const one of await (await open()).all(person)) masked.targetOf(one.platform, one.target)
  return masked.resolve(target)
}

async function list({ open, about, aliases }: MessagingService, { sessionId }: ToolContext): Promise<ToolResult> {
  const { person } = await about(sessionId)
  const all = await (await open()).list(person)
  if (all.length === 0)
    return 'Nobody can be written to yet. The person writes to the bot first, or types /sethome in a chat.'
  const masked = await aliases()
  // Where the owner's own chat is, others need not know.
  const shown = ({ platform, target, what }: (typeof all)[number]) =>
    person !== null && what === HOME_CHANNEL ? platform : `${platform}:${masked?.targetOf(platform, target) ?? target}`
  const data = all.map(({ what, name, ...place }) => ({
    target: shown({ what, ...place }),
    what: name === undefined ? what : `${what}: ${name.replaceAll(/\s+/g, ' ').slice(0, 80)}`,
  }))
  const text = data.map(({ target, what }) => `${target}  ${what}`).join('\n')
  return { text, data, ...(all.some(({ name }) => name !== undefined) ? { external: true } : {}) }
}

async function send(
  messaging: MessagingService,
  { target = '', message = '' }: Args,
  context: ToolContext,
): Promise<ToolResult> {
  if (target.trim() === '') return failure('target is missing. Write for example telegram, or see action list.')
  if (message.trim() === '') return failure('message is blank. Say what to send.')
  if (message.length > MAX_CHARS) return failure(`message has ${message.length} characters; ${MAX_CHARS} may be sent.`)
  const { open, about, redact, outputs, aliases } = messaging
  const address = await addressOf(messaging, target.trim(), context.sessionId)
  if (address === null) return failure(`${target.trim()} stands for nobody who can be written to. See action list.`)
  // What was asked about is what goes, also where an alias stood for nobody then.
  await context.permit({ type: 'send', target: address })
  const { sessionId, callId, environment, isTainted = false, signal } = context
  const { person, name } = await about(sessionId)
  const messages = await open()
  const to = await messages.find(address, person)
  const { text, paths } = namedFiles(message)
  if (paths.length > 0 && environment.backend !== 'local')
    return failure('Commands run on another machine here, and its files cannot be sent. Send the text alone.')
  const places = await Promise.all(placesOf(context, outputs).map((path) => realpath(path).catch(() => path)))
  const files: string[] = []
  for (const path of paths) {
    const found = await fileAt(path, places)
    if ('why' in found) return failure(`Nothing was sent: ${basename(path)} ${found.why}.`)
    files.push(found.real)
  }
  const from = { from: name, sessionId, person, ...(isTainted ? { isExternal: true } : {}) }
  const bodies: readonly Outgoing[] = [
    ...(text.trim() === '' ? [] : [{ text: redact(text), ...from }]),
    ...files.map((file) => ({ text: '', file, ...from })),
  ]
  const deliveries: Delivery[] = []
  // A call has one key for each part: what is made again after a crash is sent once.
  for (const [index, body] of bodies.entries())
    deliveries.push(await messages.send(`send_message:${sessionId}:${callId}:${index}`, to, { body, signal }))
  const masked = await aliases()
  const failed = deliveries.find((delivery) => delivery.type === 'failed')
  const shown = person === null && !masked ? `${to.platform}:${to.target}` : target.trim()
  if (failed?.type !== 'failed') return outcome(shown, deliveries)
  return failure(`${shown} did not take it: ${masked?.masked(failed.error) ?? failed.error}`)
}

function outcome(to: string, deliveries: readonly Delivery[]): ToolResult {
  const state = deliveries.every(({ type }) => type === 'sent') ? 'sent' : 'queued'
  const data: JsonObject = { target: to, state }
  return state === 'sent'
    ? { text: `Sent to ${to}.`, data }
    : { text: `Queued for ${to}: not sent yet. A gateway that runs sends it (hermes gateway run).`, data }
}

/** The file itself: not a hidden one, and not one that a link leads to from a place that is allowed to one that is not. */
async function fileAt(
  path: string,
  places: readonly string[],
): Promise<{ readonly real: string } | { readonly why: string }> {
  const real = await realpath(path).catch(() => null)
  const found = real === null ? null : await stat(real).catch(() => null)
  if (real === null || !found?.isFile()) return { why: 'is no file that is there' }
  const place = placeOf(real, places)
  if (place === undefined && placeOf(path, places) !== undefined) return { why: 'is a link to another place' }
  // What was asked about is what goes.
  if (place === undefined && real !== path) return { why: `is a link; the file is ${real}` }
  const named = place === undefined ? real : relative(place, real)
  return named.split(sep).some((part) => part.startsWith('.')) ? { why: 'is in a hidden place' } : { real }
}

/** What leaves from there needs no question of its own. */
function placesOf(
  { environment: { root }, sessionId }: Pick<ToolContext, 'environment' | 'sessionId'>,
  outputs: string,
): readonly string[] {
  return [...(root === undefined ? [] : [root]), join(outputs, sessionId)]
}

function placeOf(path: string, places: readonly string[]): string | undefined {
  return places.find((place) => path === place || path.startsWith(place.endsWith(sep) ? place : place + sep))
}

function failure(text: string): ToolResult {
  return { text, isError: true }
}
