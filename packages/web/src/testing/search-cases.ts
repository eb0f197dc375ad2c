import { HermesError } from '@hermes/contracts'
import type { SearchHit, SearchProvider, WebCall } from '@hermes/contracts/web'
import { expect, it, onTestFinished } from 'vitest'

/** What goes wrong with a service. */
export type Failure =
  | { readonly type: 'status'; readonly status: number; readonly headers?: Readonly<Record<string, string>> }
  /** A page where an answer should be. */
  | { readonly type: 'html' }
  /** An answer that says that it is none. */
  | { readonly type: 'error-as-200' }
  /** Nothing, for ever. */
  | { readonly type: 'silence' }
  /** More than anybody wants. */
  | { readonly type: 'endless' }

/** A provider, and what it searches. */
export interface SearchSubject {
  readonly provider: SearchProvider
  /** Gives leave for everything. */
  readonly permit: WebCall['permit']
  /** What is found from now on. */
  find(hits: readonly SearchHit[]): void
  /** How it fails from now on. */
  fail(failure: Failure): void
  /** Called after each case. */
  release?(): void | Promise<void>
}

const HITS: readonly SearchHit[] = [
  { title: 'Rain & shine', url: 'https://one.example/a?x=1&y=2', snippet: 'It rains "today".', date: '2026-11-01' },
  { title: 'Zweite', url: 'https://two.example/ü', snippet: 'Übermorgen 日本' },
  { title: 'Third', url: 'http://three.example/', snippet: '' },
]

/** The cases every search provider passes; call it inside a `describe`. */
export function testSearchProvider(create: () => SearchSubject | Promise<SearchSubject>): void {
  const open = async () => {
    const subject = await create()
    onTestFinished(() => subject.release?.())
    const search = (query: string, limit = 10, signal = AbortSignal.timeout(10_000)) =>
      subject.provider.search(query, { limit, signal, permit: subject.permit })
    return { ...subject, search }
  }
  const failing = async (failure: Failure) => {
    const { search, fail } = await open()
    fail(failure)
    const error: unknown = await search('x').catch((thrown: unknown) => thrown)
    expect(HermesError.isInstance(error), String(error)).toBe(true)
    const { message, code } = error as HermesError
    expect(message).not.toContain('\n')
    expect(message.length).toBeLessThan(500)
    return { message, code }
  }

  it('gives what is found in its order, as plain text', async () => {
    const { search, find } = await open()
    find(HITS)
    const found = await search('weather')
    expect(found.map(({ title, url }) => ({ title, url }))).toEqual(HITS.map(({ title, url }) => ({ title, url })))
    expect(found[0]!.snippet).toContain('It rains "today".')
    expect(found[1]!.snippet).toContain('Übermorgen 日本')
  })

  it('gives no more than asked for, each address once, and none that is no page', async () => {
    const { search, find } = await open()
    find([HITS[0]!, HITS[0]!, { ...HITS[1]!, url: 'javascript:alert(1)' }, HITS[1]!, HITS[2]!])
    expect((await search('weather', 2)).map(({ url }) => url)).toEqual([HITS[0]!.url, HITS[1]!.url])
  })

  it('takes nothing found for an answer', async () => {
    const { search, find } = await open()
    find([])
    expect(await search('xyzzy')).toEqual([])
  })

  it.each([
    [401, 'web.refused'],
    [402, 'web.refused'],
    [403, 'web.refused'],
    [429, 'web.limited'],
    [500, 'web.failed'],
  ])('says in a line that it was answered %i', async (status, code) => {
    const found = await failing({ type: 'status', status })
    expect(found).toMatchObject({ code, message: expect.stringContaining(String(status)) })
  })

  it('says how long a service wants to be left alone, in seconds or until a date', async () => {
    const wait = async (value: string) =>
      (await failing({ type: 'status', status: 429, headers: { 'retry-after': value } })).message
    expect(await wait('17')).toContain('17 s')
    expect(await wait('Wed, 21 Oct 2026 07:28:00 GMT')).toContain('2026-10-21T07:28:00.000Z')
  })

  it.each<Failure>([{ type: 'html' }, { type: 'error-as-200' }, { type: 'endless' }])(
    'takes no $type for an answer',
    async (failure) => {
      expect((await failing(failure)).code).toMatch(/^web\./)
    },
  )

  it('ends with the abort of whoever waits for it', async () => {
    const { search, fail } = await open()
    fail({ type: 'silence' })
    const stop = new AbortController()
    const running = search('x', 5, stop.signal)
    setTimeout(() => stop.abort(new Error('stopped')), 20)
    await expect(running).rejects.toThrow('stopped')
  })
}
