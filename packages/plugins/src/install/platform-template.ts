// A chat platform to begin with: an adapter, a small chat server that it speaks to, and the suite that every adapter passes.

/** Its files. `platform`: its name in letters, digits and `_`. */
export const PLATFORM = (name: string, platform: string): Readonly<Record<string, string>> => {
  const [url, token] = [`${platform.toUpperCase()}_URL`, `${platform.toUpperCase()}_TOKEN`]
  return {
    'index.ts': `import type { ChatPlatform, Extension, PlatformRequest } from '@hermes/contracts/extension'
import type { IncomingMessage, Platform, PlatformListener, PlatformState } from '@hermes/contracts/platform'

const MOST_CHARS = 2_000
/** The server may hold a request for messages open for so long. */
const WAIT_S = 20
const ANSWERS_WITHIN_MS = 40_000
const RETRY_MS = 500
const MOST_RETRY_MS = 60_000

/** A message as the server has it. */
interface ChatMessage {
  readonly id: number
  readonly chat: string
  readonly from: { readonly id: string; readonly name: string }
  readonly text: string
  readonly atMs: number
}

/** What the code of an error says becomes of a message: \`rejected\` is given up, \`unknown_outcome\` goes out again with a mark, others simply again. */
function failure(code: string, message: string, retryAfterMs?: number): Error {
  return Object.assign(new Error(message), { code: \`platform.\${code}\`, details: { retryAfterMs } })
}

/** An adapter translates and decides nothing: who may talk, sessions, commands and long answers are the gateway's. */
export function openChat({ account, fetchTo, clock }: PlatformRequest): Platform {
  const { ${url}: url = '', ${token}: token = '' } = account
  if (!URL.canParse(url)) throw failure('bad_options', '${url} is no address.')
  const request = fetchTo(url)
  const closed = new AbortController()
  let state: PlatformState = { type: 'connecting' }
  let heardAtMs: number | null = null
  let hearing = Promise.resolve()

  async function call<Answer>(path: string, { body, signal }: { body?: object; signal?: AbortSignal } = {}): Promise<Answer> {
    const late = AbortSignal.timeout(ANSWERS_WITHIN_MS)
    const answer = await request(new URL(path, url).href, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { authorization: \`Bearer \${token}\`, 'content-type': 'application/json' },
      signal: signal === undefined ? late : AbortSignal.any([signal, late]),
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    }).catch((error: { cause?: { code?: string } }) => {
      // Without a connection the server surely did not take it. Messages of errors show no address: it may hold a secret.
      const { code = '' } = error.cause ?? {}
      const isSure = ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN'].includes(code)
      throw failure(isSure ? 'unreachable' : 'unknown_outcome', \`The chat server \${isSure ? 'cannot be reached' : 'gave no answer'}.\`)
    })
    if (answer.ok) return (await answer.json()) as Answer
    await answer.body?.cancel()
    const { status } = answer
    if (status === 401) throw failure('unauthorized', 'The chat server does not take ${token}.')
    if (status === 429) throw failure('rate_limited', 'The chat server wants it slower.', Number(answer.headers.get('retry-after')) * 1_000)
    throw failure(status >= 500 ? 'unknown_outcome' : 'rejected', \`The chat server answered \${status}.\`)
  }

  const probe = async (signal?: AbortSignal) => (await call<{ name: string }>('/me', signal ? { signal } : {})).name

  async function hear({ hear: take, onState }: PlatformListener): Promise<void> {
    const become = (next: PlatformState) => {
      state = next
      onState(next)
    }
    const { signal } = closed
    let after = 0
    for (let failures = 0; !signal.aborted; ) {
      try {
        if (state.type !== 'connected') {
          become({ type: 'connected', account: await probe(signal) })
          heardAtMs = clock.now()
        }
        // Asking for what comes after a message confirms it, so only what the gateway has taken is asked beyond.
        const messages = await call<readonly ChatMessage[]>(\`/messages?after=\${after}&wait=\${WAIT_S}\`, { signal })
        heardAtMs = clock.now()
        for (const message of messages) {
          await take(eventOf(message))
          after = message.id
        }
        failures = 0
      } catch (error) {
        if (signal.aborted) break
        const { code, message } = error as { code?: string; message: string }
        if (code === 'platform.unauthorized') return become({ type: 'failed', error: message })
        failures += 1
        const waitMs = Math.min(RETRY_MS * 2 ** (failures - 1), MOST_RETRY_MS)
        become({ type: 'waiting', error: message, retryAtMs: clock.now() + waitMs, failures })
        await clock.sleep(waitMs, signal).catch(() => undefined)
      }
    }
    become({ type: 'closed' })
  }

  return {
    name: '${platform}',
    // What it can do besides (edits, buttons, files, typing …) is named here and has a method below.
    abilities: { maxLength: { unit: 'utf16', limit: MOST_CHARS } },
    get state() {
      return state
    },
    get heardAtMs() {
      return heardAtMs
    },
    connect: (listener) => {
      hearing = hear(listener)
    },
    send: async ({ target, text }) => {
      const { id } = await call<{ id: number }>('/messages', { body: { chat: target.chatId, text } })
      return String(id)
    },
    download: async () => {
      throw failure('rejected', 'There are no files here.')
    },
    probe: () => probe(),
    // What is to be sent may still be.
    close: async () => {
      closed.abort()
      await hearing
      state = { type: 'closed' }
    },
  }
}

function eventOf({ id, chat, from, text, atMs }: ChatMessage): IncomingMessage {
  return {
    type: 'message',
    id: String(id),
    messageId: String(id),
    chat: { id: chat, type: 'dm' },
    sender: from,
    text,
    attachments: [],
    isToBot: true,
    atMs,
  }
}

export const platform: ChatPlatform = {
  account: [
    { variable: '${url}', label: 'Address of the chat server' },
    { variable: '${token}', label: 'Token of the bot', isSecret: true },
  ],
  hint: 'You speak in a chat: short messages, plain text.',
  open: openChat,
}

const extension: Extension = {
  name: '${name}',
  setup: (api) => void api.factories.add('platform', '${platform}', () => platform),
}
export default extension
`,
    'chat-server.ts': `// The chat that the platform speaks to. To try it by hand: node chat-server.ts PORT TOKEN, then type what ada says.
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createInterface } from 'node:readline'

/** Starts a chat. \`port\` 0 is a free one. */
export async function startChat(token: string, port = 0) {
  let isRevoked = false
  let fault: 'rate-limited' | 'unheard' | 'rejected' | null = null
  // Beyond those of a server before: an id that was heard is not heard again.
  let lastId = Date.now()
  /** What people wrote and the bot has not confirmed. */
  let waiting: { id: number; chat: string; from: { id: string; name: string }; text: string; atMs: number }[] = []
  const shown: { chat: string; text: string }[] = []
  const asking = new Map<ServerResponse, NodeJS.Timeout>()

  const answer = (response: ServerResponse, status: number, body: unknown, headers = {}) =>
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))
  const deliver = () => {
    for (const [response, timer] of asking) {
      clearTimeout(timer)
      answer(response, 200, waiting)
    }
    asking.clear()
  }

  const server = createServer(async (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://chat')
    if (isRevoked || request.headers.authorization !== \`Bearer \${token}\`) return answer(response, 401, {})
    if (pathname === '/me') return answer(response, 200, { name: 'bot' })
    if (request.method === 'GET') {
      waiting = waiting.filter(({ id }) => id > Number(searchParams.get('after')))
      if (waiting.length > 0) return answer(response, 200, waiting)
      const seconds = Number(searchParams.get('wait'))
      asking.set(response, setTimeout(() => asking.delete(response) && answer(response, 200, []), seconds * 1_000))
      request.socket.once('close', () => asking.delete(response))
      return
    }
    const pieces: Buffer[] = []
    for await (const piece of request) pieces.push(piece as Buffer)
    const now = fault
    fault = null
    if (now === 'rate-limited') return answer(response, 429, {}, { 'retry-after': '1' })
    if (now === 'rejected') return answer(response, 403, {})
    shown.push(JSON.parse(Buffer.concat(pieces).toString()) as { chat: string; text: string })
    if (now === 'unheard') return request.socket.destroy()
    answer(response, 200, { id: ++lastId })
  })
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')

  return {
    url: \`http://127.0.0.1:\${(server.address() as AddressInfo).port}\`,
    shown,
    unconfirmed: () => waiting.length,
    say: (text: string, chat = 'ada') => {
      waiting.push({ id: ++lastId, chat, from: { id: chat, name: chat }, text, atMs: Date.now() })
      deliver()
    },
    /** The next message of the bot ends like this. */
    fail: (how: typeof fault) => {
      fault = how
    },
    revoke: () => {
      isRevoked = true
    },
    close: async () => {
      server.close()
      deliver()
      server.closeAllConnections()
    },
  }
}

if (process.argv[1] === import.meta.filename) {
  const [port = '4000', token = 'secret'] = process.argv.slice(2)
  const chat = await startChat(token, Number(port))
  console.log(\`A chat at \${chat.url}, token \${token}. Type what ada says.\`)
  for await (const line of createInterface({ input: process.stdin })) {
    const before = chat.shown.length
    chat.say(line)
    while (chat.shown.length === before) await new Promise((resolve) => setTimeout(resolve, 100))
    for (const { chat: to, text } of chat.shown.slice(before)) console.log(\`to \${to}: \${text}\`)
  }
}
`,
    'index.test.ts': `import { silentLogger, systemClock } from '@hermes/contracts'
import { testPlatform } from '@hermes/platform/testing'
import { expect, it } from 'vitest'
import { startChat } from './chat-server.ts'
import { openChat } from './index.ts'

const requestFor = (url: string) => ({
  account: { ${url}: url, ${token}: 'secret' },
  settings: {},
  fetchTo: () => fetch,
  keeper: { get: async () => null, set: async () => undefined },
  clock: systemClock,
  logger: silentLogger,
})

testPlatform({
  create: async () => {
    const chat = await startChat('secret')
    return {
      platform: openChat(requestFor(chat.url)),
      target: { chatId: 'ada' },
      say: (text) => chat.say(text),
      shown: () => chat.shown.map(({ text }) => text),
      unconfirmed: chat.unconfirmed,
      fail: (how) => chat.fail(how === 'markup' ? 'rejected' : how),
      revoke: chat.revoke,
      close: chat.close,
    }
  },
})

it('refuses an address that is none', () => {
  expect(() => openChat(requestFor('nowhere'))).toThrow('${url} is no address.')
})
`,
  }
}
