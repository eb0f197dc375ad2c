// A person with no key asks what changed in a release and gets sources, then has a form filled in, sees each step, approves the sending, and
// finds the download.
import { once } from 'node:events'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { CapturedRequest } from '@hermes/testkit'
import { expect, it } from 'vitest'
import { hasChromium } from '../support/chromium.js'
import { needs } from '../support/require.js'
import { useScene } from '../support/scene.js'
import { hasTmux, openTerminal, type Terminal } from '../support/terminal.js'

const scene = useScene()
/** What counts as the public web here. */
const PUBLIC = '127.0.0.2'
const QUESTION = '❯ [y] yes, once'
const HTML = { 'content-type': 'text/html; charset=utf-8' }
const NEWS = 'Fjord 2.0 reads its settings from one file.'

/** A SearXNG of one's own, and a site of the public web with notes on a release and a form. */
async function startWeb() {
  const [posted, searches]: [string[], string[]] = [[], []]
  const server = createServer(async (request, response) => {
    const { pathname, searchParams } = new URL(request.url!, 'http://x')
    const body = (await request.toArray()).join('')
    if (pathname === '/search') {
      searches.push(`${searchParams.get('q')} as ${searchParams.get('format')}`)
      const hit = { title: 'Fjord 2.0', url: `${site}/notes`, content: 'Notes on the newest release.' }
      response.writeHead(200, { 'content-type': 'application/json' })
      return void response.end(JSON.stringify({ results: [hit], unresponsive_engines: [] }))
    }
    if (pathname === '/sent') posted.push(body)
    if (pathname === '/ticket.txt') {
      const head = { 'content-type': 'text/plain', 'content-disposition': 'attachment; filename="ticket.txt"' }
      return void response.writeHead(200, head).end('Seat 7')
    }
    const pages: Readonly<Record<string, string>> = {
      '/notes': `<title>Fjord 2.0</title><article><h1>Fjord 2.0</h1><p>${NEWS} Everything else stays as it was in the release before.</p></article>`,
      '/form':
        '<title>Seats</title><form method=post action=/sent><label>Name <input name=n></label><button>Book</button></form>',
      '/sent': '<title>Booked</title><h1>Booked</h1><a href=/ticket.txt>Your ticket</a>',
    }
    response.writeHead(pathname in pages ? 200 : 404, HTML).end(`<!doctype html>${pages[pathname] ?? ''}`)
  })
  server.listen(0, '0.0.0.0')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const site = `http://${PUBLIC}:${port}`
  const close = async () => {
    server.closeAllConnections()
    server.close()
  }
  return { site, search: `http://127.0.0.1:${port}`, posted, searches, [Symbol.asyncDispose]: close }
}

const lastOf = ({ body }: CapturedRequest) => String(body.messages.at(-1)!.content)
const call = (name: string, args: object) => ({ toolCalls: [{ name, args }] })
const inBrowser = (name: string, args: object) => call('tool_call', { name, arguments: args })
const refOf = (text: string, element: string) => new RegExp(`\\[(e\\d+)\\] ${element}`).exec(text)?.[1] ?? 'e0'

/** A model that does one thing after the other with what it was shown last. */
function model(site: string) {
  const steps: ((shown: string) => object)[] = [
    () => call('web_search', { query: 'Fjord newest release' }),
    (shown) => call('web_extract', { urls: [/http\S+\/notes/.exec(shown)![0]] }),
    (shown) => ({ text: `${shown.includes(NEWS) ? NEWS : 'Nothing was found.'} Source: ${site}/notes` }),
    () => inBrowser('browser_navigate', { url: `${site}/form` }),
    (shown) => inBrowser('browser_type', { ref: refOf(shown, 'textbox "Name"'), text: 'Ann' }),
    () => inBrowser('browser_snapshot', {}),
    (shown) => inBrowser('browser_click', { ref: refOf(shown, 'button "Book"') }),
    (shown) => inBrowser('browser_click', { ref: refOf(shown, 'link "Your ticket"') }),
    (shown) => ({ text: `It is booked. The ticket: ${/Downloaded (\S+)/.exec(shown)?.[1] ?? shown}` }),
  ]
  return (request: CapturedRequest) => steps.shift()!(lastOf(request))
}

/** Says yes to what is asked until `end` is on the screen. Returns the screens with a question. */
async function answering(terminal: Terminal, end: RegExp, look: () => void = () => undefined): Promise<string[]> {
  const questions: string[] = []
  for (;;) {
    const screen = await terminal.shows(new RegExp(`${end.source}|❯ \\[y\\] yes, once`))
    if (!screen.includes(QUESTION)) return questions
    questions.push(screen)
    look()
    await terminal.press('Enter')
    await expect.poll(() => terminal.screen(), { timeout: 15_000, interval: 30 }).not.toContain(QUESTION)
  }
}

needs('chromium', hasChromium && hasTmux)('with a browser', () => {
  it('a person with no key gets sources, approves what a form sends, and finds the download', async () => {
    const { server, home, cwd } = scene
    await using web = await startWeb()
    await mkdir(home, { recursive: true, mode: 0o700 })
    const config = `auxiliary: {title_generation: {enabled: false}, session_summary: {enabled: false}}\nsecurity: {allowed_ranges: ["${PUBLIC}/32"]}\n`
    await writeFile(join(home, 'config.yaml'), config, { mode: 0o600 })
    await writeFile(join(home, '.env'), `SEARXNG_URL=${web.search}\n`, { mode: 0o600 })
    server.setHandler(model(web.site) as never)
    const args = ['--base-url', server.baseUrl, '-m', 'test']
    await using terminal = await openTerminal(args, { home, cwd, columns: 140, rows: 50, titles: true })
    await terminal.shows(/\n>$/)
    await terminal.type('What changed in the newest release of Fjord?')
    await terminal.press('Enter')
    await answering(terminal, /Source: http\S+\/notes/)
    expect(await terminal.shows(/Source: \S+\n>$/)).toContain(NEWS)
    expect(web.searches).toEqual(['Fjord newest release as json'])

    await terminal.type(`Fill in this form as Ann: ${web.site}/form`)
    await terminal.press('Enter')
    const sentBefore: number[] = []
    const questions = await answering(terminal, /It is booked\./, () => sentBefore.push(web.posted.length))
    const screen = await terminal.shows(/It is booked\.[\s\S]*\n>$/)
    for (const step of ['browser_navigate', 'browser_type', 'browser_click']) expect(screen).toContain(step)
    expect(questions).toEqual([expect.stringContaining(`POST ${web.site}/sent?\nIt sends data away`)])
    expect([sentBefore, web.posted]).toEqual([[0], ['n=Ann']])
    const path = /The ticket: (\S+ticket\.txt)/.exec(screen)![1]!
    expect(await readFile(path, 'utf8')).toBe('Seat 7')
  }, 120_000)
})
