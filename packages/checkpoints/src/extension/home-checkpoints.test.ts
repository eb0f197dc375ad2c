import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { silentLogger, systemClock } from '@hermes/contracts'
import type { Command, CommandContext, ModelCallEvent } from '@hermes/contracts/extension'
import { handlersOf } from '@hermes/testkit'
import { expect, it, onTestFinished } from 'vitest'
import { checkpointCommands } from './checkpoint-commands.js'
import { openHomeCheckpoints } from './index.js'

it('reads a folder beforehand once, however many agents work in it', async () => {
  const base = mkdtempSync(join(tmpdir(), 'hermes-home-checkpoints-'))
  onTestFinished(() => rmSync(base, { recursive: true, maxRetries: 10 }))
  const [home, root] = [join(base, 'user/.hermes'), join(base, 'work')]
  for (const folder of [home, join(root, '.git')]) mkdirSync(folder, { recursive: true })
  writeFileSync(join(root, 'a'), 'one')
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
    clock: systemClock,
    logger: silentLogger,
  })
  const begin = () => {
    const agent = kept.forAgent(root, 'one')
    for (const handler of handlersOf([kept.extension])('before-model-call'))
      void handler({ session: { id: 'one' } } as ModelCallEvent)
    return agent
  }
  const { checkpoints } = await kept.open()
  const first = begin()
  await expect.poll(() => checkpoints.workspaces().length).toBe(1)
  await first.close()
  await checkpoints.clear()
  const second = begin()
  await new Promise(setImmediate)
  await second.close()
  expect(checkpoints.workspaces()).toEqual([])
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
