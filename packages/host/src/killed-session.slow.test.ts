// A session whose process is killed where approvals and results of the background are on their way: in each life at another moment. What was
// asked is asked once, what was allowed runs once, and of each task the model hears once.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { openStorage } from '@hermes/storage'
import { type CapturedRequest, checkPrefix, type ModelStep, startModelServer, temporaryHome } from '@hermes/testkit'
import { expect, it } from 'vitest'

/** In the order of a session; the last life is let live. */
const MOMENTS = ['parked', 'answered', 'command', 'delegated', 'ended', 'woken', null] as const
const COMMAND = 'echo once >> effects.log; rm -rf build; sleep 0.2'
const RESULT = /\[Background task (task-[0-9a-f]{6}) \(/g

const isChild = ({ body }: CapturedRequest) =>
  JSON.stringify(body.messages[0]).includes('You were started by another agent')

/** Asks for what is dangerous, then delegates, again where a task was lost with its process, until two came to their end. */
async function answer(request: CapturedRequest): Promise<ModelStep> {
  if (isChild(request)) {
    await new Promise((resolve) => setTimeout(resolve, 100))
    return { text: 'Three apples.' }
  }
  const { messages } = request.body
  if (JSON.stringify(messages).split('Three apples.').length > 2) return { text: 'All heard.' }
  const newest = messages.at(-1)!
  const calls = messages.flatMap((message) => message.tool_calls?.map((call) => call.function.name) ?? [])
  if (calls.length === 0) return { toolCalls: [{ name: 'terminal', args: { command: COMMAND } }] }
  const isUnderWay = newest.role === 'tool' && calls.at(-1) === 'delegate_task'
  if (isUnderWay && JSON.stringify(newest.content).includes('Started in the background')) return { text: 'Waiting.' }
  return { toolCalls: [{ name: 'delegate_task', args: { goal: 'Count.', background: true } }] }
}

it('asks, does and tells nothing twice, killed at each moment from the question to the result', async () => {
  await using temporary = await temporaryHome()
  const [home, cwd] = [join(temporary.path, '.hermes'), join(temporary.path, 'work')]
  for (const folder of [home, join(cwd, 'build')]) await mkdir(folder, { recursive: true })
  const server = await startModelServer()
  server.setHandler(answer)
  const settings = {
    model: { default: 'm', base_url: server.baseUrl },
    auxiliary: { title_generation: { enabled: false }, session_summary: { enabled: false } },
    terminal: { isolation: 'off' },
    memory: { flush_min_turns: 0 },
  }
  await writeFile(join(home, 'config.yaml'), JSON.stringify(settings))
  try {
    const reached: string[] = []
    for (const dieAt of MOMENTS) reached.push(...(await live({ home, cwd, path: process.env['PATH'], dieAt })))
    const requested = reached.filter((line) => line.startsWith('parked '))
    expect(new Set(requested).size, requested.join()).toBe(1)
    expect(await readFile(join(cwd, 'effects.log'), 'utf8')).toBe('once\n')
    const parents = server.requests.filter((request) => !isChild(request))
    for (const [index, request] of parents.slice(1).entries()) expect(checkPrefix(parents[index]!, request)).toBeNull()
    expect(server.violations).toEqual([])
    const words = JSON.stringify(parents.at(-1)!.body.messages)
    const heard = [...words.matchAll(RESULT)].map(([, task]) => task)
    expect(new Set(heard).size).toBe(heard.length)
    const storage = await openStorage({ path: join(home, 'state.db') })
    expect([await storage.inbox.waiting('mortal'), await storage.approvals.pending()]).toEqual([[], []])
    await storage.close()
  } finally {
    await server.close()
  }
}, 120_000)

/** Which moments a life came to; it dies at the last of them where it was to. */
async function live(life: { readonly dieAt: string | null } & Record<string, unknown>): Promise<readonly string[]> {
  const sources = join(import.meta.dirname, '../../testkit/src/__fixtures__/load-sources.mjs')
  const script = join(import.meta.dirname, '__fixtures__/mortal-session.mjs')
  const args = ['--conditions=@hermes/source', `--import=${sources}`, script, JSON.stringify(life)]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'], timeout: 30_000 })
  const [printed, [exitCode, signal]] = await Promise.all([text(child.stdout), once(child, 'close')])
  const moments = printed.trim().split('\n')
  expect({ moments, exitCode, signal }).toMatchObject(
    life.dieAt === null
      ? { exitCode: 0 }
      : { signal: 'SIGKILL', moments: expect.arrayContaining([expect.stringContaining(life.dieAt)]) },
  )
  return moments
}
