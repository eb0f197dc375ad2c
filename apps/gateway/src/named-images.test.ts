import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { HermesError, silentLogger, systemClock } from '@hermes/contracts'
import { createSessionHost } from '@hermes/host'
import { openRuntime } from '@hermes/runtime'
import { startModelServer, temporaryHome } from '@hermes/testkit'
import { expect, it, onTestFinished } from 'vitest'
import { type ChatRequest, parseChatRequest, wordsOf } from './chat-request.js'
import { Conversations } from './conversations.js'
import { HeardAnswers } from './heard-answers.js'
import { type FetchImage, NamedImages } from './named-images.js'

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

function world(answers: Record<string, Uint8Array>) {
  const fetched: string[] = []
  const fetchImage: FetchImage = async (url, { user }) => {
    fetched.push(`${user} ${url}`)
    if (answers[url]) return answers[url]
    throw new HermesError(`${url} cannot be read: the server answered 404.`, { code: 'fetch.failed' })
  }
  const bring = async ({ message, history }: ChatRequest, person: string | null = null) =>
    new NamedImages(fetchImage, { person, signal: new AbortController().signal }).bring({
      content: message!.content,
      history,
    })
  return { fetched, fetchImage, bring }
}

it('brings pictures named by their address once, as text from the web and from whom they are', async () => {
  const url = 'https://pictures.test/a/dot.png'
  const { fetched, bring } = world({ [url]: PNG })
  const web = { type: 'web', name: 'pictures.test' }
  const { content, history } = await bring(chatOf([image(url), { type: 'text', text: 'What is it?' }], [image(url)]))
  expect(content).toMatchObject([
    { ...dot, sources: [web] },
    { type: 'text', text: 'What is it?' },
  ])
  expect(history[0]!.content).toMatchObject([{ ...dot, sources: [web] }])
  expect(fetched).toEqual([`null ${url}`])
  const ofBob = await bring(wordsOf('bob', chatOf([image(url)])), 'bob')
  expect(ofBob.content).toMatchObject([{ sources: [{ type: 'person' }, web] }])
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

it('goes on in its session when a picture is gone or another one by now, also where that was told as gone', async () => {
  const [temporary, server] = await Promise.all([temporaryHome(), startModelServer()])
  const home = join(temporary.path, '.hermes')
  await mkdir(home)
  const config = { model: { default: 'm', base_url: server.baseUrl }, terminal: { isolation: 'off' } }
  await writeFile(join(home, 'config.yaml'), JSON.stringify(config))
  const cwd = temporary.path
  const runtime = await openRuntime({ home, userHome: cwd, env: {}, cwd, user: 'u', tempDir: cwd })
  const host = createSessionHost({ runtime })
  onTestFinished(async () => {
    await host.close()
    await runtime.close()
    await server.close()
    await temporary.remove()
  })
  const url = 'https://pictures.test/a/dot.png?sig=1'
  const answers: Record<string, Uint8Array> = { [url]: PNG }
  const { fetched, fetchImage } = world(answers)
  const conversations = new Conversations({
    storage: () => runtime.storage(),
    host,
    heard: new HeardAnswers({
      meta: async () => (await runtime.storage()).meta,
      clock: systemClock,
      logger: silentLogger,
    }),
    request: { platform: 'gateway', permissions: 'deny' },
  })
  server.setHandler(() => ({ text: 'Nice.' }))
  const say = async (request: ChatRequest, sessionId?: string) => {
    const personal = { ...request, person: null }
    const { signal } = new AbortController()
    const call = { signal, images: new NamedImages(fetchImage, { person: null, signal }) }
    const conversation = await (sessionId === undefined
      ? conversations.derived(personal, call)
      : conversations.named(sessionId, personal, call))
    const { status } = await conversation.place.run(conversation.input, {}).result
    conversation.session.close()
    expect(status).toBe('completed')
    return conversation.session.id
  }
  const words = (text: string) => ({ type: 'text', text })
  const first = await say(chatOf([words('What is it?'), image(url)]))
  for (const [index, now] of [undefined, Buffer.concat([PNG, PNG])].entries()) {
    if (now) answers[url] = now
    else delete answers[url]
    const next = chatOf([words(`And ${index}?`)], [words('What is it?'), image(url)])
    if (index === 0) expect(await say(next)).toBe(first)
    // An edited message makes a session of its own, with the picture as it was.
    else expect(await say(next)).not.toBe(first)
    expect(JSON.stringify(server.requests.at(-1)!.body.messages)).toContain(dot.data)
  }
  expect(fetched).toHaveLength(1)
  const away = [words('Away'), image('https://pictures.test/away')]
  const withoutIt = await say(chatOf([words('And now?')], away))
  const both = chatOf([words('Still?')], away)
  const more = { ...both, history: [...both.history, chatOf([words('And now?')]).message!, both.history[1]!] }
  expect(await say(more)).toBe(withoutIt)
  expect(await say(chatOf([words('Once more')]), withoutIt)).toBe(withoutIt)
})
