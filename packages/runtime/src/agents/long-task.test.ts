// One prompt that takes sixty steps in a small window: what was found on the way is still known at the end.
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type CapturedRequest, startModelServer, temporaryHome } from '@hermes/testkit'
import { expect, it } from 'vitest'
import { openRuntime } from '../open-runtime.js'

const STEPS = 60
const finding = (at: number) => `finding-${at}-is-${(at * 7919) % 1000}`
const findingsIn = (text: string) => [...new Set(text.match(/finding-\d+-is-\d+/g))]
const sent = ({ body }: CapturedRequest) => JSON.stringify(body.messages)
const isSummary = (request: CapturedRequest) => sent(request).includes('You write the record')

it('knows at the end of sixty steps of one prompt what each of them found, in a window of 32,000 tokens', async () => {
  await using temporary = await temporaryHome()
  const server = await startModelServer([])
  const [home, cwd] = [join(temporary.path, 'home'), join(temporary.path, 'work')]
  for (const folder of [home, cwd]) await mkdir(folder)
  const model = { provider: 'custom', default: 'm', base_url: server.baseUrl, context_length: 32_000 }
  const auxiliary = { session_summary: { enabled: false }, title_generation: { enabled: false } }
  await writeFile(join(home, 'config.yaml'), JSON.stringify({ model, auxiliary }))
  for (let at = 0; at < STEPS; at++)
    await writeFile(join(cwd, `page-${at}.txt`), `line of page ${at} with some words\n`.repeat(150))
  const world = { userHome: temporary.path, cwd, tempDir: temporary.path, env: {}, user: 'me' }
  const runtime = await openRuntime({ home, ...world, yolo: true })
  try {
    let step = 0
    server.setHandler((request) => {
      // A summariser that keeps what it is given, and so loses nothing itself.
      if (isSummary(request))
        return {
          text: `## Active Task\nread\n\n## Goal\nread\n\n## Completed Actions\n${findingsIn(sent(request)).join('\n')}`,
        }
      if (step === STEPS) return { text: 'Done.' }
      const at = step++
      return { text: finding(at), toolCalls: [{ name: 'read_file', args: { path: `page-${at}.txt` } }] }
    })
    const { agent, close } = await runtime.createAgent({})
    expect(await agent.run('Read all pages.').result).toMatchObject({ status: 'completed', text: 'Done.' })
    const compactions = agent.entries().filter((entry) => entry.type === 'compaction')
    await close()
    expect(compactions.length).toBeGreaterThan(2)
    expect(compactions.filter(({ isTruncation }) => isTruncation)).toEqual([])
    const last = server.requests.filter((request) => !isSummary(request)).at(-1)!
    expect(findingsIn(sent(last)).sort()).toEqual(Array.from({ length: STEPS }, (_, at) => finding(at)).sort())
  } finally {
    await runtime.close()
    await server.close()
  }
})
