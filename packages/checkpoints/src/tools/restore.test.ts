import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { HermesError } from '@hermes/contracts'
import type { Action, Subject } from '@hermes/contracts/policy'
import type { ToolContext } from '@hermes/contracts/tool'
import { createPolicy } from '@hermes/safety'
import { expect, it, onTestFinished } from 'vitest'
import { testPlace } from '../__fixtures__/workspace.js'
import { createCheckpoints } from '../index.js'
import { createRestoreTool } from './restore.js'

const FILES = [
  'AGENTS.md',
  '.claude/settings.json',
  '.vscode/tasks.json',
  '.github/workflows/ci.yml',
  '.husky/pre-commit',
]

/** A workspace with a kept state of `files`, which hold something else now, and `restore` for a model; `answer` is the person's. */
async function setUp(files: readonly string[], answer: 'once' | 'deny', before = 'before\n', after = 'after\n') {
  const place = testPlace()
  onTestFinished(() => place[Symbol.dispose]())
  const { root, directory } = place
  const write = (path: string, text: string) => {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text)
  }
  const checkpoints = createCheckpoints({ directory })
  for (const path of files) write(path, before)
  await checkpoints.take(root, {
    kind: 'manual',
    reason: 'test',
    label: 'kept',
    runId: 'run',
    sessionId: 's',
    undoFromSeq: 4,
  })
  for (const path of files) write(path, after)
  await checkpoints.settle(root, 'run')
  const policy = createPolicy({ mode: 'ask', home: '/home/ada/.hermes', userHome: '/home/ada', workspace: [root] })
  const requested: string[] = []
  policy.listen('*', (id, { action }) => {
    requested.push(action.type === 'write' ? action.path.slice(root.length + 1) : action.type)
    void policy.answer(id, answer)
  })
  const subject: Subject = {
    sessionId: 's',
    platform: 'cli',
    agentPath: ['root'],
    origin: 'model',
    tainted: false,
    workspace: root,
  }
  const permit = async (action: Action) => {
    const decision = await policy.decide(action, subject)
    const settled = decision.type === 'ask' ? await policy.settled(decision.approvalId) : decision
    if (settled.type === 'allow') return settled.permit
    throw new HermesError('Not permitted.', { code: 'policy.denied' })
  }
  const context = {
    ...{ permit, sessionId: 's', signal: new AbortController().signal },
    environment: {
      ...{ backend: 'local', cwd: () => root, resolve: (path: string) => join(root, path) },
      rememberFiles: () => ({ isNamed: (path: string) => path === join(root, 'build/common.mk') }),
    },
  } as unknown as ToolContext
  const tool = createRestoreTool({
    checkpoints: async () => ({
      checkpoints,
      rootOf: () => root,
      runOf: async () => null,
      adopt: () => undefined,
      remote: async () => null,
    }),
  })
  const restore = (paths?: readonly string[]) =>
    tool.execute({ checkpoint: 'kept', force: false, ...(paths ? { paths: [...paths] } : {}) }, context)
  return {
    requested,
    restore,
    remove: (path: string) => rmSync(join(root, path)),
    there: (path: string) => existsSync(join(root, path)),
    text: (path: string) => readFileSync(join(root, path), 'utf8'),
  }
}

it('asks about each file that runs or instructs later, once, and about no other', async () => {
  const { requested, restore, text } = await setUp([...FILES, 'src/a.ts', 'notes.md'], 'once')
  await restore()
  expect(requested.sort()).toEqual(FILES.toSorted())
  for (const path of [...FILES, 'src/a.ts', 'notes.md']) expect(text(path), path).toBe('before\n')
})

it('leaves what the person does not want as it is, says so, and restores the rest', async () => {
  const { restore, text } = await setUp([...FILES, 'src/a.ts'], 'deny')
  const report = (await restore()) as { text: string }
  expect(text('src/a.ts')).toBe('before\n')
  for (const path of FILES) expect([path, text(path)]).toEqual([path, 'after\n'])
  expect(report.text).toContain('AGENTS.md – it runs or instructs later, and writing it is not permitted')
  expect(report.text).toContain('Restored (1): src/a.ts')
  expect(report.text).toMatch(
    /^Tell the user: the conversation stays as it is; \/rollback 1 brings it back to there too\.$/m,
  )
})

it('asks about one that is gone and would come back, and not about those outside the paths that are asked for', async () => {
  const { requested, restore, remove, there } = await setUp(['AGENTS.md', 'CLAUDE.md', 'src/a.ts'], 'deny')
  remove('CLAUDE.md')
  await restore(['CLAUDE.md', 'src'])
  expect([requested, there('CLAUDE.md')]).toEqual([['CLAUDE.md'], false])
})

it.each([
  ['{"scripts":{"postinstall":"node evil"}}', '{"scripts":{}}', ['package.json']],
  ['{"version":"1.0.0"}', '{"version":"1.1.0"}', []],
])('asks about package.json where install scripts come back: %s', async (before, after, expected) => {
  const { requested, restore, text } = await setUp(['package.json'], 'once', before, after)
  await restore()
  expect([requested, text('package.json')]).toEqual([expected, before])
})

it.each([
  ['all:\n\tevil\n', 'all:\n\ttrue\n', ['build/common.mk']],
  ['a.o: a.c a.h\n', 'a.o: a.c\n', []],
])('asks about a file that a Makefile includes where it runs something else: %j', async (before, after, expected) => {
  const { requested, restore, text } = await setUp(['build/common.mk', 'other.mk'], 'once', before, after)
  await restore()
  expect([requested, text('build/common.mk'), text('other.mk')]).toEqual([expected, before, before])
})
