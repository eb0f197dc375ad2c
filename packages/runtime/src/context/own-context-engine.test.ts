import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { silentLogger, systemClock } from '@hermes/contracts'
import type { CompactRequest } from '@hermes/contracts/context'
import { type Entry, userText } from '@hermes/contracts/conversation'
import { type TemporaryHome, temporaryHome } from '@hermes/testkit'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { engineProblems, loadOwnEngine } from './own-context-engine.js'

let temporary: TemporaryHome
let home: string

beforeEach(async () => {
  temporary = await temporaryHome()
  home = join(temporary.path, '.hermes')
})
afterEach(() => temporary.remove())

async function put(path: string, text: string): Promise<void> {
  const file = join(home, path)
  await mkdir(dirname(file), { recursive: true })
  await writeFile(file, text)
}

const load = (engine: string) =>
  loadOwnEngine(
    { engine, home, userHome: temporary.path },
    { windowOf: () => 1_000, models: [], settings: { target_ratio: 0.5 }, clock: systemClock, logger: silentLogger },
  )

const message = (seq: number, text: string): Entry => ({ type: 'message', seq, atMs: 0, message: userText(text) })
const request: CompactRequest = {
  entries: [message(1, 'first'), message(2, 'the newest request')],
  tokens: 900,
  provider: 'p',
  model: 'm',
  cause: 'threshold',
  carry: ['open: water the plants'],
}
const run = async (engine: string) => (await load(engine)).compact(request, { signal: new AbortController().signal })

const engineOf = (compact: string) => `export const createContextEngine = ({ settings, windowOf }) => ({
  isDue: async (state) => state.tokens > (await windowOf(state)) * settings.target_ratio,
  plan: () => null,
  compact: async (request) => ${compact},
})`

describe('loadOwnEngine', () => {
  it('takes a module by path, below the home, or by the name of a package there', async () => {
    await put('plugins/engine.mjs', engineOf(`({ type: 'unchanged', reason: 'no' })`))
    await put('node_modules/my-engine/package.json', '{"name":"my-engine","type":"module","exports":"./index.js"}')
    await put('node_modules/my-engine/index.js', engineOf(`({ type: 'unchanged', reason: 'no' })`))
    for (const engine of [
      'plugins/engine.mjs',
      join(home, 'plugins/engine.mjs'),
      '~/.hermes/plugins/engine.mjs',
      'my-engine',
    ]) {
      const loaded = await load(engine)
      expect(await loaded.isDue({ ...request, tokens: 600 })).toBe(true)
      expect(await loaded.isDue({ ...request, tokens: 400 })).toBe(false)
      expect(engineProblems({ engine, home, userHome: temporary.path })).toEqual([])
    }
  })

  it('keeps what must not be lost, whatever the engine forgets', async () => {
    await put(
      'e.mjs',
      engineOf(`({ type: 'compacted', entry: { upToSeq: 2, summary: 'all of it' }, isSummarized: true, usage: {} })`),
    )
    expect(await run('e.mjs')).toMatchObject({
      entry: { type: 'compaction', upToSeq: 2, repeatedSeqs: [2], summary: 'all of it\n\nopen: water the plants' },
    })
  })

  it('makes nothing of an engine that throws or gives nonsense', async () => {
    await put('throws.mjs', engineOf(`{ throw new Error('broken') }`))
    await put('nonsense.mjs', engineOf(`({ type: 'compacted', entry: 7 })`))
    expect(await run('throws.mjs')).toEqual({ type: 'unchanged', reason: 'The context engine failed: broken.' })
    expect(await run('nonsense.mjs')).toMatchObject({ type: 'unchanged' })
  })

  it('says in one line what is wrong with a module', async () => {
    await put('empty.mjs', 'export default 1')
    await put('half.mjs', 'export const createContextEngine = () => ({ isDue() {} })')
    const code = 'runtime.bad_context_engine'
    await expect(load('empty.mjs')).rejects.toMatchObject({
      code,
      message: expect.stringContaining('exports no function'),
    })
    await expect(load('half.mjs')).rejects.toMatchObject({ code, message: expect.stringContaining('no method plan') })
    await expect(load('nowhere')).rejects.toMatchObject({ code })
    expect(engineProblems({ engine: 'nowhere', home, userHome: home })).toEqual([
      'context.engine: there is no module "nowhere"; long sessions are compacted in the usual way.',
    ])
  })
})
