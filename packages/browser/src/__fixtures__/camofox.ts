import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { PUBLIC } from './scene.js'

const WINDOW_CHARS = 2_000
const KEY = 'camofox-key'

interface FakeTab {
  readonly userId: string
  readonly group: string
  readonly history: string[]
  html: string
  readonly values: Map<string, string>
}

/** A Camofox that speaks its documented API over HTTP. Pages are loaded and their redirects followed, without scripts. */
export interface Camofox extends AsyncDisposable {
  readonly variables: Readonly<Record<string, string>>
  /** `METHOD path` of what was asked, in their order. */
  readonly seen: string[]
  readonly tabs: Map<string, FakeTab>
  /** Ends every connection, as networks do. */
  drop(): void
  /** Opens a tab, as another program does that uses the same server. */
  openTab(userId: string, group: string, url: string): Promise<string>
  /** What answers everything instead. */
  refusal: { readonly status: number; readonly headers?: Record<string, string>; readonly body: string } | null
}

type Body = Readonly<Record<string, unknown>>

export async function startCamofox(): Promise<Camofox> {
  let nextTab = 1
  const server = createServer((request, response) => void serve(request, response))
  const fake = {
    seen: [] as string[],
    tabs: new Map<string, FakeTab>(),
    refusal: null as Camofox['refusal'],
    drop: () => server.closeAllConnections(),
    async openTab(userId: string, group: string, url: string) {
      const tab: FakeTab = { userId, group, history: [], html: '', values: new Map() }
      const tabId = `tab-${nextTab++}`
      fake.tabs.set(tabId, tab)
      if (url !== '') await load(tab, url)
      return tabId
    },
  }

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let text = ''
    for await (const chunk of request) text += String(chunk)
    const { pathname, searchParams } = new URL(request.url!, 'http://x')
    fake.seen.push(`${request.method} ${pathname}`)
    const answer = (status: number, body: object, headers: Record<string, string> = {}) =>
      void response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))
    if (fake.refusal) return void response.writeHead(fake.refusal.status, fake.refusal.headers).end(fake.refusal.body)
    if (request.headers.authorization !== `Bearer ${KEY}`) return answer(403, { error: 'Forbidden' })
    const body: Body = text === '' ? {} : JSON.parse(text)
    const [, kind, id = '', what = ''] = pathname.split('/')
    if (kind === 'sessions' && request.method === 'DELETE') {
      for (const [name, tab] of fake.tabs) if (tab.userId === id) fake.tabs.delete(name)
      return answer(200, { ok: true })
    }
    const userId = String(body['userId'] ?? searchParams.get('userId') ?? '')
    if (userId === '') return answer(400, { error: 'userId required' })
    if (kind === 'tabs' && id === '' && request.method === 'POST') {
      if (!body['sessionKey']) return answer(400, { error: 'sessionKey required' })
      const tabId = await fake.openTab(userId, String(body['sessionKey']), String(body['url'] ?? ''))
      return answer(200, { tabId, url: fake.tabs.get(tabId)!.history.at(-1) ?? 'about:blank' })
    }
    if (kind === 'tabs' && id === '') {
      const theirs = [...fake.tabs].filter(([, tab]) => tab.userId === userId)
      const tabs = theirs.map(([tabId, { group, history }]) => ({ tabId, targetId: tabId, url: history.at(-1), title: '', listItemId: group }))
      return answer(200, { running: true, tabs })
    }
    const tab = fake.tabs.get(id)
    if (!tab || tab.userId !== userId) return answer(404, { error: 'Tab not found' })
    if (what === '' && request.method === 'DELETE') {
      fake.tabs.delete(id)
      return answer(200, { ok: true })
    }
    if (what === 'snapshot') {
      const all = render(tab)
      const offset = Number(searchParams.get('offset') ?? 0)
      const snapshot = all.slice(offset, offset + WINDOW_CHARS)
      const hasMore = offset + WINDOW_CHARS < all.length
      const more = hasMore ? { truncated: true, hasMore, nextOffset: offset + WINDOW_CHARS } : { hasMore }
      return answer(200, { url: tab.history.at(-1), snapshot, refsCount: 1, totalChars: all.length, ...more })
    }
    const problem = await act(tab, what, body)
    return problem === null ? answer(200, { ok: true, url: tab.history.at(-1) }) : answer(400, { error: problem })
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return Object.assign(fake, {
    variables: { CAMOFOX_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, CAMOFOX_API_KEY: KEY },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  })
}

/** What stands on a page, an element each: its reference is its place. */
const elementsOf = ({ html }: FakeTab) =>
  [...html.matchAll(/<(a|input|h1|p)\b([^>]*)>([^<]*)/g)].map(([, tag, attributes, text], index) => ({
    ...{ ref: `e${index + 1}`, tag, text: text!.trim() },
    href: /href="?([^" >]+)/.exec(attributes!)?.[1],
    name: /aria-label="?([^" >]+)/.exec(attributes!)?.[1] ?? '',
  }))

function render(tab: FakeTab): string {
  const line = (one: ReturnType<typeof elementsOf>[number]) => {
    if (one.tag === 'a') return `- link "${one.text}" [${one.ref}]`
    if (one.tag === 'input') return `- textbox "${one.name}" [${one.ref}]: ${tab.values.get(one.ref) ?? ''}`
    return one.tag === 'h1' ? `- heading "${one.text}"` : `- text: ${one.text}`
  }
  return `${elementsOf(tab).map(line).join('\n')}\n`
}

async function act(tab: FakeTab, what: string, body: Body): Promise<string | null> {
  const element = elementsOf(tab).find(({ ref }) => ref === body['ref'])
  if (what === 'navigate') {
    if (!/^https?:/.test(String(body['url']))) return 'Blocked URL scheme'
    await load(tab, String(body['url']))
  }
  else if (what === 'back') {
    tab.history.pop()
    await load(tab, tab.history.pop() ?? 'about:blank')
  } else if (what === 'click') {
    if (!element) return `Unknown ref: ${String(body['ref'])}`
    if (element.href) await load(tab, new URL(element.href, tab.history.at(-1)).href)
  } else if (what === 'type') {
    if (!element) return `Unknown ref: ${String(body['ref'])}`
    tab.values.set(element.ref, String(body['text']))
  } else if (what === 'press' && body['key'] === 'Enter') {
    const [value] = tab.values.values()
    await load(tab, new URL(`/found?q=${encodeURIComponent(value ?? '')}`, tab.history.at(-1)).href)
  } else if (what !== 'press' && what !== 'scroll') return `Unknown action ${what}`
  return null
}

/** Names that end in `.test` are of the public web here. */
async function load(tab: FakeTab, address: string): Promise<void> {
  let url = address
  for (let hops = 0; url !== 'about:blank' && hops < 5; hops++) {
    const here = new URL(url)
    if (here.hostname.endsWith('.test')) here.hostname = PUBLIC
    const response = await fetch(here, { redirect: 'manual' })
    tab.html = await response.text()
    const next = response.headers.get('location')
    if (next === null) break
    url = new URL(next, url).href
  }
  if (url === 'about:blank') tab.html = ''
  tab.history.push(url)
  tab.values.clear()
}
