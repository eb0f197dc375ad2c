import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { silentLogger, systemClock } from '@hermes/contracts'
import type { Command, CommandContext } from '@hermes/contracts/extension'
import { handlersOf } from '@hermes/testkit'
import { expect, it, onTestFinished } from 'vitest'
import { checkpointCommands } from './checkpoint-commands.js'
import { openHomeCheckpoints } from './index.js'

/** Checkpoints of a home, and of a project that an agent works in. */
function openHome() {
  const base = mkdtempSync(join(tmpdir(), 'hermes-home-checkpoints-'))
  onTestFinished(() => rmSync(base, { recursive: true, maxRetries: 10 }))
  const [home, root] = [join(base, 'user/.hermes'), join(base, 'work')]
  for (const folder of [home, join(root, '.git')]) mkdirSync(folder, { recursive: true })
  writeFileSync(join(root, 'a'), 'one')
  const waits: (() => void)[] = []
  const kept = openHomeCheckpoints({
    home,
    userHome: join(base, 'user'),
    directory: join(home, 'checkpoints'),
    settings: {
      enabled: true,
      max_snapshots: 20,
      max_total_size_mb: 100,
      max_file_size_mb: 10,
      auto_prune: false,
      retention_days: 7,
      min_interval_hours: 24,
    },
    backend: 'local',
    store: () => Promise.reject(new Error('Nobody asks for it.')),
    clock: { now: systemClock.now, sleep: () => new Promise<void>((resolve) => void waits.push(resolve)) },
    logger: silentLogger,
  })
  const tell = (moment: 'before-model-call' | 'after-model-call') => {
    for (const handler of handlersOf([kept.extension])(moment)) void handler({ session: { id: 'one' } } as never)
  }
  return { kept, root, waits, asks: () => tell('before-model-call'), answers: () => tell('after-model-call') }
}

it('reads a folder beforehand once, however many agents work in it', async () => {
  const { kept, root, waits, asks } = openHome()
  const { checkpoints } = await kept.open()
  const first = kept.forAgent(root, 'one')
  asks()
  waits.shift()!()
  await expect.poll(() => checkpoints.workspaces().length).toBe(1)
  await first.close()
  await checkpoints.clear()
  const second = kept.forAgent(root, 'one')
  asks()
  expect(waits).toEqual([])
  await second.close()
  expect(checkpoints.workspaces()).toEqual([])
})

it('leaves a model alone that answers soon, and reads the folder with the first answer that takes longer', async () => {
  const { kept, root, waits, asks, answers } = openHome()
  const { checkpoints } = await kept.open()
  const agent = kept.forAgent(root, 'one')
  asks()
  answers()
  asks()
  expect(waits).toHaveLength(1)
  waits.shift()!()
  await new Promise(setImmediate)
  answers()
  asks()
  expect(checkpoints.workspaces()).toEqual([])
  waits.shift()!()
  await expect.poll(() => checkpoints.workspaces().length).toBe(1)
  await agent.close()
})

it('does not take local folders for those of a conversation whose commands run elsewhere', async () => {
  const commands: Command[] = []
  const open = () => Promise.reject(new Error('Nobody looks here.'))
  checkpointCommands({ open, storage: open, policy: { decide: open }, backend: 'ssh' }).setup({
    commands: { add: (command: Command) => commands.push(command) },
  } as never)
  const context = { session: { id: 's', cwd: '/' }, cwd: '/' } as unknown as CommandContext
  for (const { name, run, complete } of commands) {
    await expect(run({ words: ['1'] }, context), name).rejects.toThrow('are in the ssh environment')
    expect(await complete?.([], context), name).toEqual(name === 'rollback' ? [] : undefined)
  }
})
