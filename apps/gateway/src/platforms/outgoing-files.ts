// Files that leave: those of the workspace, of the session's output folder, or made in the session go by themselves. All others are asked for, as all
// are once text from outside was read. Hidden places never leave.
import { createHash, randomUUID } from 'node:crypto'
import { readFile, realpath, stat } from 'node:fs/promises'
import { basename, join, relative, sep } from 'node:path'
import { errorLine } from '@hermes/contracts'
import type { Extension, ModelAnswerEvent } from '@hermes/contracts/extension'
import type { IncomingAttachment, PlatformFile } from '@hermes/contracts/platform'
import type { Action, Policy, Subject } from '@hermes/contracts/policy'
import { type Chat, namedFiles, platformError, type SendableMessage } from '@hermes/platform'
import type { MetaStore } from '@hermes/storage'

const NOTE = 'chat.files:'
const REQUESTED = 'chat.file:'
/** Tools that write a file and say which. */
const WRITERS: ReadonlySet<string> = new Set(['write_file', 'patch'])
const GOOD_FOR_MS = 24 * 3_600_000
const TYPES: Readonly<Record<string, string>> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  gif: 'image/gif',
  webp: 'image/webp',
  pdf: 'application/pdf',
  mp3: 'audio/mpeg',
  m4a: 'audio/mp4',
  ogg: 'audio/ogg',
  opus: 'audio/ogg',
  wav: 'audio/wav',
  mp4: 'video/mp4',
  mov: 'video/quicktime',
  webm: 'video/webm',
  zip: 'application/zip',
  csv: 'text/csv',
  txt: 'text/plain',
  md: 'text/markdown',
}

/** How a conversation was when an answer named files. */
interface FileNote {
  readonly isTainted: boolean
  readonly taintedBy: readonly string[]
  /** Absolute paths of files that the session wrote. */
  readonly made: readonly string[]
  /** Where its commands run. */
  readonly backend: string
}

/** A file that a person is asked about. */
interface RequestedFile {
  readonly path: string
  readonly sessionId: string
  readonly expiresAtMs: number
  readonly answer: 'yes' | 'no' | null
}

/** Notes, with each answer that names files, what the session had read and written by then. */
export function fileNotes(meta: () => Promise<MetaStore>): Extension {
  return {
    name: 'chat-files',
    setup(api) {
      api.hooks.on('after-model-call', async (event) => {
        const { paths } = namedFiles(textOf(event))
        if (paths.length === 0) return
        await (await meta()).set(noteKey(event.session.id, paths), JSON.stringify(noteOf(event)))
      })
    },
  }
}

function textOf({ finish }: ModelAnswerEvent): string {
  return finish.message.content.map((part) => (part.type === 'text' ? part.text : '')).join('')
}

function noteOf({ session, environment }: ModelAnswerEvent): FileNote {
  const all = session.messages()
  // What was refused or failed made nothing.
  const done = new Set(all.flatMap((message) => (message.role === 'tool' && !message.isError ? [message.callId] : [])))
  const made = all.flatMap((message) => {
    if (message.role !== 'assistant') return []
    return message.content.flatMap((part) => {
      if (part.type !== 'tool-call' || !WRITERS.has(part.name) || !done.has(part.id)) return []
      const path = part.args?.['path']
      return typeof path === 'string' && environment ? [environment.resolve(path)] : []
    })
  })
  const { isTainted, taintedBy } = session
  return { isTainted, taintedBy, made: [...new Set(made)], backend: environment?.backend ?? 'none' }
}

function noteKey(sessionId: string, paths: readonly string[]): string {
  const digest = createHash('sha256').update(JSON.stringify(paths)).digest('hex').slice(0, 16)
  return `${NOTE}${sessionId}:${digest}`
}

/** Options of {@link OutgoingFiles}. */
interface OutgoingFilesOptions {
  readonly meta: MetaStore
  readonly policy: Policy
  readonly workspace: string
  /** Of a file that the platform takes. */
  readonly maxBytes: number
  /** Where sessions put what is meant to leave: a folder for each. */
  readonly outputs: string
  readonly chatOf: (sessionId: string) => Promise<Chat | null>
  /** Puts a message into the outbox of a chat, once for each key. */
  readonly tell: (chat: Chat, key: string, body: object) => Promise<void>
  readonly nowMs: () => number
}

/** A file, and whether it goes by itself. */
type Verdict =
  | { readonly type: 'goes'; readonly real: string }
  | { readonly type: 'asks'; readonly real: string; readonly why: string }
  | { readonly type: 'never'; readonly why: string }

/** What leaves through chats as files. */
export class OutgoingFiles {
  readonly #options: OutgoingFilesOptions

  constructor(options: OutgoingFilesOptions) {
    this.#options = options
  }

  /** What a chat is shown of an answer; its files are rows of the outbox after it. */
  async shownOf(message: SendableMessage, answer: string): Promise<string> {
    const sessionId = message.body['sessionId']
    const { text, paths } = namedFiles(answer)
    if (typeof message.body['messageId'] !== 'string' || paths.length === 0) return answer
    const chat = typeof sessionId === 'string' ? await this.#options.chatOf(sessionId) : null
    if (!chat) return answer
    const refused: string[] = []
    const note = await this.#noteOf(chat.sessionId, paths)
    for (const [index, path] of paths.entries()) {
      const verdict = await this.#look(path, note, chat)
      if (verdict.type === 'never') refused.push(`[${basename(path)} was not sent: ${verdict.why}]`)
      else if (verdict.type === 'goes')
        await this.#options.tell(chat, `${message.key}:file:${index}`, {
          text: '',
          file: verdict.real,
          sessionId: chat.sessionId,
        })
      else await this.#ask(chat, `${message.key}:file:${index}`, verdict)
    }
    return [text, ...refused].filter((line) => line !== '').join('\n') || '📎'
  }

  async #noteOf(sessionId: string, paths: readonly string[]): Promise<FileNote> {
    const text = await this.#options.meta.get(noteKey(sessionId, paths))
    // Of an answer that nobody noted nothing is known, so all of it asks.
    return text === null
      ? { isTainted: true, taintedBy: [], made: [], backend: 'local' }
      : (JSON.parse(text) as FileNote)
  }

  async #look(path: string, note: FileNote, chat: Chat): Promise<Verdict> {
    if (note.backend !== 'local') return never('its commands run on another machine')
    const real = await realpath(path).catch(() => null)
    const found = real === null ? null : await stat(real).catch(() => null)
    if (real === null || !found?.isFile()) return never('there is no such file')
    const { maxBytes } = this.#options
    if (found.size > maxBytes) return never(`it has ${found.size} bytes, and ${maxBytes} may be sent here`)
    const { workspace, outputs, policy } = this.#options
    const output = await realpath(join(outputs, chat.sessionId)).catch(() => null)
    const places = [await realpath(workspace).catch(() => workspace), ...(output === null ? [] : [output])]
    const place = places.find((folder) => isWithin(real, folder))
    const named = place === undefined ? real : relative(place, real)
    if (named.split(sep).some((part) => part.startsWith('.'))) return never('it is in a hidden place')
    const subject = this.#subjectOf(chat, note)
    const actions = actionsOf(real, chat)
    for (const action of actions) {
      const decision = await policy.decide(action, subject, { mayAsk: false })
      if (decision.type === 'deny' && !(await this.#mayBeAgreed(action, subject))) return never(decision.reason)
      if (decision.type !== 'allow')
        return { type: 'asks', real, why: decision.type === 'deny' ? decision.reason : 'a rule asks' }
    }
    if (note.isTainted)
      return {
        type: 'asks',
        real,
        why: `text from outside was read${note.taintedBy.length > 0 ? ` (${note.taintedBy.slice(0, 3).join(', ')})` : ''}`,
      }
    if (place === undefined && !note.made.includes(real))
      return { type: 'asks', real, why: 'it is outside the workspace' }
    return { type: 'goes', real }
  }

  async #mayBeAgreed(action: Action, subject: Subject): Promise<boolean> {
    return (
      (await this.#options.policy.decide(action, subject, { agreed: 'a look ahead', mayAsk: false })).type === 'allow'
    )
  }

  #subjectOf(chat: Chat, { isTainted, taintedBy }: FileNote): Subject {
    const { sessionId, platform, user, person } = chat
    const { workspace, outputs } = this.#options
    const who = { sessionId, platform, user: user.id, agentPath: ['root'], origin: 'model' } as const
    // Of the home of Hermes all but its owner see what their own session put out.
    const shown = person === null ? {} : { homePlaces: [join(outputs, sessionId)] }
    return { ...who, ...shown, tainted: isTainted, taintedBy, workspace }
  }

  async #ask(chat: Chat, key: string, { real, why }: Verdict & { readonly type: 'asks' }): Promise<void> {
    const { meta, nowMs, tell } = this.#options
    const known = await meta.get(`${REQUESTED}of:${key}`)
    const id = known ?? randomUUID()
    if (known === null) {
      const requested: RequestedFile = {
        path: real,
        sessionId: chat.sessionId,
        expiresAtMs: nowMs() + GOOD_FOR_MS,
        answer: null,
      }
      await meta.set(REQUESTED + id, JSON.stringify(requested))
      await meta.set(`${REQUESTED}of:${key}`, id)
    }
    const { size } = await stat(real)
    const text = `📎 The answer wants to send you a file:\n${real} (${size} bytes)\nAsked because ${why}. Good for a day.`
    const buttons = [
      [
        { label: 'Send it', data: `f:${id}:yes` },
        { label: 'Do not', data: `f:${id}:no` },
      ],
    ]
    await tell(chat, `${key}:asks`, {
      text: `${text}\nWithout buttons: /approve ${id.slice(0, 8)} or /deny ${id.slice(0, 8)}`,
      markup: 'plain',
      buttons,
    })
  }

  /** Which session asked about a file; `null` for what is over or unknown. `id` may be its beginning. */
  async requested(id: string): Promise<(RequestedFile & { readonly id: string }) | null> {
    const { meta, nowMs } = this.#options
    const [row] = /^[0-9a-f-]{8,36}$/.test(id) ? await meta.list(REQUESTED + id) : []
    if (!row) return null
    const requested = JSON.parse(row.value) as RequestedFile
    return requested.expiresAtMs > nowMs() ? { ...requested, id: row.key.slice(REQUESTED.length) } : null
  }

  /** The first answer counts; resolves with what to say to the one who gave it. */
  async answer(
    id: string,
    answer: 'yes' | 'no',
    { chat, by, shown }: { chat: Chat; by: string; shown: string | null },
  ): Promise<string> {
    const requested = await this.requested(id)
    if (!requested) return 'This is over.'
    if (requested.answer !== null) return 'It was answered already.'
    const { meta, policy, tell } = this.#options
    if (answer === 'yes') {
      const subject = this.#subjectOf(chat, { isTainted: true, taintedBy: [], made: [], backend: 'local' })
      for (const action of actionsOf(requested.path, chat)) {
        const decision = await policy.decide(action, subject, { agreed: `chat:${by}`, mayAsk: false })
        if (decision.type !== 'allow') return decision.type === 'deny' ? decision.reason : 'It cannot be sent.'
      }
    }
    const { id: _, ...row } = requested
    await meta.set(REQUESTED + requested.id, JSON.stringify({ ...row, answer }))
    if (answer === 'yes')
      await tell(chat, `file:${requested.id}`, { text: '', file: requested.path, sessionId: chat.sessionId })
    const line = `${answer === 'yes' ? '✔ Sent' : '✖ Not sent'} (${by}): ${requested.path}`
    if (shown !== null) await tell(chat, `file:${requested.id}:over`, { text: line, markup: 'plain', edits: shown })
    return answer === 'yes' ? 'It is sent.' : 'It is not sent.'
  }

  /** Rejects with `platform.rejected` where it is gone, or a link leads elsewhere by now. */
  async load(path: string): Promise<PlatformFile> {
    const isSame = (await realpath(path).catch(() => null)) === path
    if (!isSame) throw platformError('rejected', 'The file is gone.')
    const { size } = await stat(path)
    // A file that has grown since would fill the memory of this process, and of the next one that takes it up.
    if (size > this.#options.maxBytes) throw platformError('rejected', `The file has ${size} bytes by now.`)
    const bytes = await readFile(path).catch((error: unknown) => {
      throw platformError('rejected', `The file cannot be read: ${errorLine(error)}`)
    })
    const name = basename(path)
    const mediaType = TYPES[name.slice(name.lastIndexOf('.') + 1).toLowerCase()] ?? 'application/octet-stream'
    return { kind: kindOf(mediaType), name, mediaType, bytes }
  }
}

/** What sending a file comes to. */
function actionsOf(path: string, { platform, chat }: Chat): readonly Action[] {
  return [
    { type: 'read', path, backend: 'local' },
    { type: 'send', target: `${platform}:${chat.id}`, chosen: 'acts' },
  ]
}

function kindOf(mediaType: string): IncomingAttachment['kind'] {
  const kind = mediaType.split('/', 1)[0]
  return kind === 'image' || kind === 'audio' || kind === 'video' ? kind : 'file'
}

function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep)
}

function never(why: string): Verdict {
  return { type: 'never', why }
}
