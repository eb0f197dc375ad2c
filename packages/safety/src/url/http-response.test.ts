import { describe, expect, it } from 'vitest'
import { HttpResponse, toHeaders } from './http-response.js'

const values = { 'x-kind': ['a', 'b'], 'set-cookie': ['one=1', 'two=2'], 'content-type': ['text/plain'] }
const pairs = Object.entries(values).flatMap(([name, all]) => all.map((value): [string, string] => [name, value]))
const TEXT = '\u{feff}{"a":"ä"}'

/** The same answer, ours and the one of the platform. */
function both() {
  const body = () =>
    new ReadableStream<Uint8Array<ArrayBuffer>>({
      start: (controller) => {
        const bytes = new TextEncoder().encode(TEXT)
        for (const piece of [bytes.slice(0, 9), bytes.slice(9)]) controller.enqueue(piece)
        controller.close()
      },
    })
  const beginning = { status: 201, statusText: 'Made' }
  return [
    new HttpResponse({ ...beginning, headers: toHeaders(values), body: body() }),
    new Response(body(), { ...beginning, headers: pairs }),
  ] as const
}

describe('HttpResponse', () => {
  it.each<[string, (response: Response) => unknown]>([
    ['status', ({ status, statusText, ok, redirected, bodyUsed }) => [status, statusText, ok, redirected, bodyUsed]],
    ['headers', ({ headers }) => [[...headers], [...headers.keys()], [...headers.values()], headers.getSetCookie()]],
    ['one header', ({ headers }) => [headers.get('X-Kind'), headers.get('none'), headers.has('Set-Cookie')]],
    ['text', (response) => response.text()],
    ['JSON', (response) => response.json()],
    ['bytes', async (response) => [...(await response.bytes())]],
    ['a buffer', async (response) => [...new Uint8Array(await response.arrayBuffer())]],
    ['a copy', async (response) => [await response.clone().text(), await response.text(), response.bodyUsed]],
    ['a second read', async (response) => [await response.text(), await response.text().catch((error) => error.name)]],
    [
      'a second copy',
      async (response) => {
        await response.text()
        try {
          return response.clone()
        } catch (error) {
          return (error as Error).name
        }
      },
    ],
    [
      'a reader',
      async (response) => {
        const reader = response.body!.getReader()
        return [(await reader.read()).value?.length, await response.text().catch((error) => error.name)]
      },
    ],
  ])('is to its reader what the platform makes of the same: %s', async (_, read) => {
    const [ours, theirs] = both()
    expect(await read(ours)).toEqual(await read(theirs))
  })

  it('has a body to be iterated, or none', async () => {
    const [ours] = both()
    let length = 0
    for await (const piece of ours.body!) length += piece.length
    expect(length).toBe(new TextEncoder().encode(TEXT).length)
    const none = new HttpResponse({ status: 204, statusText: '', headers: toHeaders({}), body: null })
    expect([none.body, await none.text()]).toEqual([null, ''])
  })

  it('hands on itself what arrives, to one reader', async () => {
    const [ours] = both()
    const pieces: Uint8Array[] = []
    for await (const piece of ours) pieces.push(piece)
    expect(new TextDecoder('utf-8', { ignoreBOM: true }).decode(Buffer.concat(pieces))).toBe(TEXT)
    expect(ours.bodyUsed).toBe(true)
    expect(() => ours[Symbol.asyncIterator]()).toThrow(TypeError)
    await expect(ours.text()).rejects.toThrow(TypeError)
  })

  it('has headers that are given on, and cannot be changed', () => {
    const headers = toHeaders(values)
    expect([...new Headers(headers)]).toEqual([...new Headers(pairs)])
    expect(() => headers.set('a', 'b')).toThrow(TypeError)
    const seen: string[] = []
    headers.forEach((value, name) => void seen.push(`${name}: ${value}`))
    expect(seen[0]).toBe('content-type: text/plain')
  })
})
