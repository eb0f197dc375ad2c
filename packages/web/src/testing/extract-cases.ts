import { HermesError } from '@hermes/contracts'
import type { ExtractedPage, ExtractProvider, WebCall } from '@hermes/contracts/web'
import { expect, it, onTestFinished } from 'vitest'
import type { Failure } from './search-cases.js'

/** A provider, and what it reads. */
export interface ExtractSubject {
  readonly provider: ExtractProvider
  /** Gives leave for everything. */
  readonly permit: WebCall['permit']
  /** What stands at every address from now on, as the Markdown that is expected; gives the address. */
  show(page: Pick<ExtractedPage, 'title' | 'text'>): string
  /** How it fails from now on; gives the address to be read. */
  fail(failure: Failure): string
  /** Called after each case. */
  release?(): void | Promise<void>
}

/** The cases every provider of pages passes; call it inside a `describe`. */
export function testExtractProvider(create: () => ExtractSubject | Promise<ExtractSubject>): void {
  const open = async () => {
    const subject = await create()
    onTestFinished(() => subject.release?.())
    const extract = (url: string, signal = AbortSignal.timeout(10_000)) =>
      subject.provider.extract(url, { signal, permit: subject.permit })
    return { ...subject, extract }
  }

  it('gives title, address and text of a page', async () => {
    const { extract, show } = await open()
    const text = `# Sturm\n\n${'Der Wind weht über die Dächer der Stadt, und niemand hört ihm zu. '.repeat(8).trim()}`
    const page = await extract(show({ title: 'Wetter', text }))
    expect(page).toMatchObject({ title: 'Wetter', text: expect.stringContaining('Der Wind weht über die Dächer') })
    expect(URL.canParse(page.url)).toBe(true)
  })

  it('leaves out pictures that stand in the text', async () => {
    const { extract, show } = await open()
    const words = 'Words that stay where they are, each of them, and then some more of them. '.repeat(5)
    const page = await extract(
      show({ title: 'T', text: `${words}\n\n![a chart](data:image/png;base64,${'A'.repeat(400)})` }),
    )
    expect(page.text).toContain('Words that stay')
    expect(page.text).not.toContain('base64')
  })

  it.each<Failure>([
    { type: 'status', status: 403 },
    { type: 'status', status: 429 },
    { type: 'status', status: 500 },
    { type: 'endless' },
  ])('says in a line why there is nothing: $type $status', async (failure) => {
    const { extract, fail } = await open()
    const error: unknown = await extract(fail(failure)).catch((thrown: unknown) => thrown)
    expect(HermesError.isInstance(error), String(error)).toBe(true)
    expect((error as HermesError).message).not.toContain('\n')
  })

  it('ends with the abort of whoever waits for it', async () => {
    const { extract, fail } = await open()
    const url = fail({ type: 'silence' })
    const stop = new AbortController()
    const running = extract(url, stop.signal)
    setTimeout(() => stop.abort(new Error('stopped')), 20)
    await expect(running).rejects.toThrow('stopped')
  })
}
