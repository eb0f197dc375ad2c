import { mkdir, realpath, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { HermesError } from '@hermes/contracts'
import type { Action } from '@hermes/contracts/policy'
import { createPolicy } from '@hermes/safety'
import { probeIsolation } from '@hermes/sandbox/isolation'
import { testPermit } from '@hermes/sandbox/testing'
import { needs } from '@hermes/testkit/daemons'
import { expect, it } from 'vitest'
import { call, createToolContext, temporaryEnvironment } from './__fixtures__/test-context.js'
import { createReadFileTool, createSearchFilesTool } from './index.js'

const TEXT = 'what was said elsewhere'
/** What stores leave behind in the temporary folder: as it is made, where one of that name was there, and while it is brought back. */
const RESCUE = [
  'hermes-rescue-other.jsonl',
  'hermes-rescue-other-0123456789ab.jsonl',
  'hermes-rescue-other.jsonl.0a1b2c.taking',
]

/** A workspace and a temporary folder beside it with rescue files of other projects. */
async function scene({ isolated = false } = {}) {
  const root = await realpath((await temporaryEnvironment()).folder)
  const [home, temp] = [join(root, 'home'), join(root, 'temp')]
  const cwd = join(home, 'work')
  for (const folder of [cwd, temp]) await mkdir(folder, { recursive: true })
  for (const name of [...RESCUE, 'hermes-rescue.md']) await writeFile(join(temp, name), TEXT, { mode: 0o600 })
  const { environment } = await temporaryEnvironment({
    ...{ cwd, home, temp: [temp], env: { PATH: '/usr/bin:/bin', HOME: home } },
    ...(isolated ? { isolation: {} } : {}),
  })
  return { home, temp, cwd, environment }
}

it('asks before a rescue file of another project is read, and leaves it out of a search', async () => {
  const { home, temp, cwd, environment } = await scene()
  const policy = createPolicy({ mode: 'ask', home: join(home, '.hermes'), userHome: home, writeRoots: [temp] })
  policy.listen('*', () => undefined)
  const subject = { sessionId: 's', platform: 'cli', agentPath: ['root'], origin: 'model', tainted: false } as const
  const permit = async (action: Action) => {
    const decision = await policy.decide(action, { ...subject, workspace: cwd })
    if (decision.type === 'allow') return decision.permit
    throw new HermesError(decision.type === 'deny' ? decision.rule : decision.question.rule, { code: 'policy.denied' })
  }
  const context = { ...createToolContext({ environment }), permit }
  const read = async (name: string) => (await call(createReadFileTool(), { path: join(temp, name) }, context)).text
  for (const name of RESCUE) expect(await read(name)).toContain('rescue-file')
  expect(await read('hermes-rescue.md')).toContain(TEXT)
  const { text } = await call(createSearchFilesTool(), { pattern: TEXT, path: temp }, context)
  expect(text).toContain('hermes-rescue.md')
  expect(text).not.toContain('hermes-rescue-')
})

needs(await probeIsolation())('isolated commands', () => {
  it('see no rescue file of another project, whenever it was left', async () => {
    const { temp, cwd, environment } = await scene({ isolated: true })
    const run = async (command: string) =>
      (await environment.exec(testPermit({ type: 'spawn', command, cwd, backend: 'local' }), command)).output
    expect(await run(`cat ${temp}/hermes-rescue.md`)).toBe(TEXT)
    await writeFile(join(temp, 'hermes-rescue-later.jsonl'), TEXT)
    for (const name of [...RESCUE, 'hermes-rescue-later.jsonl'])
      expect(await run(`cat ${temp}/${name} 2>/dev/null; grep -rl said ${temp} 2>/dev/null`), name).toBe(
        `${temp}/hermes-rescue.md\n`,
      )
  })
})
