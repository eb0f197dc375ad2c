import { HermesError } from '@hermes/contracts'
import { expect, it } from 'vitest'
import { type ChatRequest, parseChatRequest, wordsOf } from './chat-request.js'
import { NamedImages } from './named-images.js'

const PNG = Buffer.from('\u0089PNG\r\n\u001A\nrest', 'latin1')
const dot = { type: 'image', mediaType: 'image/png', data: PNG.toString('base64') }
const image = (url: string) => ({ type: 'image_url', image_url: { url } })
const chatOf = (now: readonly object[], before: readonly object[] = []) =>
  parseChatRequest(
    JSON.stringify({
      messages: [
        ...(before.length === 0
          ? []
          : [
              { role: 'user', content: before },
              { role: 'assistant', content: 'Nice.' },
            ]),
        { role: 'user', content: now },
      ],
    }),
  )

function world(answers: Readonly<Record<string, Uint8Array>>) {
  const fetched: string[] = []
  const images = new NamedImages(async (url, { user }) => {
    fetched.push(`${user} ${url}`)
    if (answers[url]) return answers[url]
    throw new HermesError(`${url} cannot be read: the server answered 404.`, { code: 'fetch.failed' })
  })
  const who = (person: string | null) => ({ person, signal: new AbortController().signal })
  return { fetched, bring: (request: ChatRequest, person: string | null = null) => images.bring(request, who(person)) }
}

it('brings pictures named by their address once, as text from the web and from whom they are', async () => {
  const url = 'https://pictures.test/a/dot.png'
  const { fetched, bring } = world({ [url]: PNG })
  const web = { type: 'web', name: 'pictures.test' }
  const { message } = await bring(chatOf([image(url), { type: 'text', text: 'What is it?' }]))
  expect(message?.content).toEqual([
    { ...dot, sources: [web] },
    { type: 'text', text: 'What is it?' },
  ])
  const next = await bring(chatOf([{ type: 'text', text: 'And now?' }], [image(url)]))
  expect(next.history[0]!.content).toEqual([{ ...dot, sources: [web] }])
  expect(fetched).toEqual([`null ${url}`])
  const ofBob = await bring(wordsOf('bob', chatOf([image(url)])), 'bob')
  expect(ofBob.message?.content).toMatchObject([{ sources: [{ type: 'person' }, web] }])
  expect(fetched.at(-1)).toBe(`bob ${url}`)
})

it('says why one is not brought, goes on without one that is gone, and takes no other address', async () => {
  const page = 'https://pictures.test/page'
  const { bring } = world({ [page]: Buffer.from('<html>') })
  const refused = { status: 400, code: 'invalid_image_url' }
  const away = image('https://pictures.test/away')
  await expect(bring(chatOf([image(page)]))).rejects.toMatchObject({
    ...refused,
    message: expect.stringContaining('is no PNG'),
  })
  await expect(bring(chatOf([away]))).rejects.toMatchObject({ ...refused, message: expect.stringContaining('404') })
  const { history } = await bring(chatOf([{ type: 'text', text: 'And now?' }], [away]))
  expect(history[0]!.content).toEqual([{ type: 'text', text: '[A picture that is gone: https://pictures.test/away]' }])
  const many = Array.from({ length: 21 }, (_, at) => image(`https://pictures.test/${at}`))
  await expect(bring(chatOf(many))).rejects.toMatchObject(refused)
  for (const url of ['ftp://pictures.test/a', 'file:///etc/passwd', 'https://', `https://x.test/${'a'.repeat(3_000)}`])
    expect(() => chatOf([image(url)])).toThrow('or an https address')
})
