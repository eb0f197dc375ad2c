// A process that is killed while an answer streams: what had been on the screen for a second is in the session, in both kinds of store.
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { openStorage, type StorageOptions } from '@hermes/storage'
import { needs, type PostgresServer, postgresMissing, startPostgresServer } from '@hermes/testkit/daemons'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { parseEvents, startCli } from '../support/cli.js'
import { useScene } from '../support/scene.js'

/** Milliseconds of streaming after which the process is killed. */
const KILLS = [900, 1_100, 5_000] as const
/** What is shown may be this long on its way to the store: the promised second, and what a busy machine adds. */
const DURABLE_MS = 1_300
const WORD_MS = 50
const WORDS = Array.from({ length: 200 }, (_, index) => `word${index} `)

const scene = useScene()

interface Killed {
  /** The words on the screen, with the time in milliseconds that each had been there. */
  readonly shown: readonly { readonly word: string; readonly forMs: number }[]
  /** What the session has of the answer. */
  readonly kept: string
}

/** Has an answer stream, kills the process after so long, and reads the store as the next process does. */
async function killWhileStreaming(
  afterMs: number,
  { home, store }: { readonly home: string; readonly store: StorageOptions },
): Promise<Killed> {
  scene.server.enqueue({ text: WORDS.join(''), chunkSize: 8, latencyMs: WORD_MS })
  const child = startCli(['chat', '-q', 'Count.', '--base-url', scene.server.baseUrl, '-m', 'm', '--json'], {
    home,
    cwd: scene.cwd,
  })
  const shown = new Map<string, number>()
  let [line, answer] = ['', '']
  child.stdout!.setEncoding('utf8').on('data', (text: string) => {
    line += text
    const end = line.lastIndexOf('\n') + 1
    for (const event of parseEvents(line.slice(0, end))) if (event.type === 'message-delta') answer += event.text
    line = line.slice(end)
    for (const word of answer.match(/word\d+ /g) ?? []) {
      if (shown.size === 0) setTimeout(() => child.kill('SIGKILL'), afterMs)
      if (!shown.has(word)) shown.set(word, performance.now())
    }
  })
  await new Promise((resolve) => child.once('close', resolve))
  const killedAtMs = performance.now()
  expect(child.signalCode).toBe('SIGKILL')
  const storage = await openStorage(store)
  try {
    const [session] = await storage.sessions.list()
    const answers = (await storage.log.entries(session!.id)).filter(
      (entry) => entry.type === 'message' && entry.message.role === 'assistant',
    )
    return {
      shown: [...shown].map(([word, atMs]) => ({ word, forMs: killedAtMs - atMs })),
      kept: JSON.stringify(answers),
    }
  } finally {
    await storage.close()
  }
}

function expectKept({ shown, kept }: Killed, afterMs: number): void {
  const durable = shown.filter(({ forMs }) => forMs >= DURABLE_MS)
  expect(durable.filter(({ word }) => !kept.includes(word))).toEqual([])
  // After five seconds it is most of the answer so far; who was killed within the first second may have nothing.
  if (afterMs >= 5_000) expect(durable.length).toBeGreaterThan(shown.length / 2)
  else if (afterMs >= 1_100) expect(kept).toContain('word0 ')
  if (kept !== '[]') expect(kept).toContain('cut off here')
}

const homeOf = (afterMs: number) => join(scene.folder, `home${afterMs}`)

it('leaves in its file what was on the screen a second before', async () => {
  const one = async (afterMs: number) => {
    const home = homeOf(afterMs)
    expectKept(await killWhileStreaming(afterMs, { home, store: { path: join(home, 'state.db') } }), afterMs)
  }
  await Promise.all(KILLS.map(one))
})

needs(postgresMissing())('on a server', () => {
  let postgres: PostgresServer
  beforeAll(async () => {
    postgres = await startPostgresServer()
  })
  afterAll(() => postgres?.stop())

  it('leaves there what was on the screen a second before', async () => {
    // When it is written does not depend on the store.
    const afterMs = KILLS[2]
    const home = homeOf(afterMs)
    await postgres.createDatabase('killed')
    const url = postgres.url('killed')
    await mkdir(home, { recursive: true })
    await writeFile(join(home, 'config.yaml'), `storage:\n  url: \${SESSIONS_URL}\n`)
    await writeFile(join(home, '.env'), `SESSIONS_URL=${url}\n`, { mode: 0o600 })
    expectKept(await killWhileStreaming(afterMs, { home, store: { url } }), afterMs)
  })
})
