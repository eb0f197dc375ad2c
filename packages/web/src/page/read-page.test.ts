import type { ServerResponse } from 'node:http'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { createPublicFetch } from '@hermes/safety/public-fetch'
import { afterAll, describe, expect, it, onTestFinished } from 'vitest'
import { allowing, failingReply, type Reply, type Seen, serve } from '../__fixtures__/serve.js'
import { testExtractProvider } from '../testing/index.js'
import { createPageThread } from './page-thread.js'
import { createPageReader, type RenderPage } from './read-page.js'

const thread = createPageThread()
afterAll(() => thread.close())

const reply =
  (headers: Readonly<Record<string, string>>, body: string | Uint8Array) =>
  (response: ServerResponse): void =>
    void response.writeHead(200, headers).end(body)
const HTML = { 'content-type': 'text/html; charset=utf-8' }
const LONG = 'Somebody wrote this down and it goes on for a while, so that it is a text. '.repeat(8)

async function open(answer: (seen: Seen) => Reply, render?: RenderPage) {
  const server = await serve(answer)
  onTestFinished(server.close)
  const { permit, actions } = allowing()
  const provider = createPageReader({
    fetch: createPublicFetch({ network: { allowLoopback: true } }),
    thread,
    pdfText: async (bytes) =>
      bytes.length > 10 ? { text: '=== page 1 ===\nFrom the PDF', what: 'PDF, 1 page' } : null,
    render: () => render ?? null,
  })
  const read = (path = '/') =>
    provider.extract(`${server.baseUrl}${path}`, { permit, signal: AbortSignal.timeout(20_000) })
  return { ...server, provider, permit, actions, read }
}

describe('pages read by Hermes itself', () => {
  testExtractProvider(async () => {
    let answer: Reply = {}
    const { provider, permit, baseUrl } = await open(() => answer)
    return {
      provider,
      permit,
      show: ({ title, text }) => {
        const body = text
          .split('\n\n')
          .map((part) =>
            part.startsWith('![') ? `<img alt="a chart" src="${/\((.*)\)/.exec(part)![1]}">` : `<p>${part}</p>`,
          )
        answer = reply(
          HTML,
          `<!doctype html><html><head><title>${title}</title></head><body>${body.join('\n')}</body></html>`,
        )
        return `${baseUrl}/page`
      },
      fail: (failure) => {
        answer = failingReply(failure)
        return `${baseUrl}/page`
      },
    }
  })

  it.each([
    [
      'what the server says',
      { 'content-type': 'text/html; charset=ISO-8859-1' },
      Buffer.from(`<p>Grüße ${LONG}`, 'latin1'),
    ],
    [
      'what the page says',
      { 'content-type': 'text/html' },
      Buffer.concat([
        Buffer.from('<meta charset="windows-1251"><p>'),
        Buffer.from([0xcf, 0xf0, 0xe8]),
        Buffer.from(` ${LONG}`),
      ]),
    ],
    [
      'the mark it begins with, whatever the server says',
      { 'content-type': 'text/plain; charset=latin1' },
      Buffer.from(`\ufeffGrüße ${LONG}`, 'utf16le'),
    ],
    [
      'UTF-8 where the server names an encoding that is none',
      { 'content-type': 'text/plain; charset=klingon' },
      Buffer.from(`Grüße ${LONG}`),
    ],
    [
      'what it can be, where the server names one that it is not in',
      { 'content-type': 'text/plain; charset=utf-8' },
      Buffer.from(`Grüße ${'ü'.repeat(60)} ${LONG}`, 'latin1'),
    ],
  ])('takes the encoding from %s', async (_, headers, body) => {
    const { read } = await open(() => reply(headers, body))
    expect((await read()).text).toMatch(/^(?:Grüße|При)/)
  })

  it('unpacks what was asked to come plain, and stops where it becomes too much', async () => {
    const page = `<p>${LONG}</p>`
    const packed = { '/gzip': ['gzip', gzipSync(page)], '/br': ['br', brotliCompressSync(page)] } as const
    const bomb = gzipSync(Buffer.alloc(40_000_000, 'a '))
    const { read } = await open(({ path }) => {
      const [encoding, body] = packed[path as keyof typeof packed] ?? ['gzip', bomb]
      const type = body === bomb ? { 'content-type': 'text/plain' } : HTML
      return reply({ ...type, 'content-encoding': encoding }, body)
    })
    for (const path of Object.keys(packed)) expect((await read(path)).text).toContain('Somebody wrote')
    expect((await read('/bomb')).note).toContain('Only the first 2 MB')
  })

  it('reads JSON and other text as it is, and PDFs by what reads files', async () => {
    const { read } = await open(({ path }) =>
      path === '/json'
        ? { a: 1 }
        : path === '/pdf'
          ? reply({ 'content-type': 'application/octet-stream' }, '%PDF-1.7 and so on')
          : path === '/short'
            ? reply({ 'content-type': 'application/pdf' }, '%PDF')
            : reply({ 'content-type': 'text/plain' }, '# as it is *'),
    )
    expect((await read('/json')).text).toBe('{"a":1}')
    expect((await read('/text')).text).toBe('# as it is *')
    expect(await read('/pdf')).toMatchObject({ text: expect.stringContaining('From the PDF'), note: 'PDF, 1 page.' })
    await expect(read('/short')).rejects.toMatchObject({ code: 'web.unreadable' })
  })

  it.each([
    ['what is no text', () => reply({ 'content-type': 'image/png' }, Buffer.alloc(100)), /is no page but image\/png/],
    ['what says it is text and is not', () => reply({ 'content-type': 'text/html' }, Buffer.alloc(100)), /is no page/],
    [
      'redirects in a circle',
      () => (response: ServerResponse) => void response.writeHead(302, { location: '/' }).end(),
      /redirects more than/,
    ],
    ['a login', () => failingReply({ type: 'status', status: 401 }), /401 \(it wants a login\)/],
    ['a page that is gone', () => failingReply({ type: 'status', status: 404 }), /404 \(there is no such page\)/],
    [
      'a wish to be left alone',
      () => failingReply({ type: 'status', status: 429, headers: { 'retry-after': '30' } }),
      /429.*wants 30 s/,
    ],
    ['nothing', () => reply(HTML, '<html><body></body></html>'), /has no text/],
  ] as const)('says in a line why there is nothing to read: %s', async (_, answer, words) => {
    const { read } = await open(answer)
    await expect(read()).rejects.toThrow(words)
  })

  it('has a page that scripts make shown by the browser, where there is one', async () => {
    const app =
      '<!doctype html><html><head><script src="/a.js"></script></head><body><div id="app"></div></body></html>'
    await expect((await open(() => reply(HTML, app))).read()).rejects.toMatchObject({ code: 'web.needs_browser' })
    const shown = { url: 'https://app.example/shown', html: `<!doctype html><title>App</title><p>${LONG}` }
    const { read } = await open(
      () => reply(HTML, app),
      async () => shown,
    )
    expect(await read()).toMatchObject({
      url: shown.url,
      title: 'App',
      text: expect.stringContaining('Somebody wrote'),
    })
  })

  it('gives up a page that takes too long, and reads the next one', async () => {
    const impatient = createPageThread({ timeoutMs: 1 })
    const signal = AbortSignal.timeout(20_000)
    await expect(impatient.read(`<p>${LONG.repeat(500)}`, 'https://x.example/', signal)).rejects.toThrow(
      'takes more than',
    )
    await impatient.close()
    expect((await thread.read(`<p>${LONG}`, 'https://x.example/', signal)).text).toContain('Somebody')
  })
})
