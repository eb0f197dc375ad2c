// Many processes and a person with an editor at the same two files.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { runCli } from '../support/cli.js'
import { useScene } from '../support/scene.js'

const scene = useScene()
const WRITERS = 8
const EACH = Math.max(2, Math.ceil(Number(process.env['HERMES_TEST_RUNS'] ?? 0) / WRITERS))

it(`loses no entry of ${WRITERS} processes that write at once`, async () => {
  const { home, cwd } = scene
  const hermes = (...args: string[]) => runCli(args, { home, cwd })
  await hermes('config', 'set', 'memory.memory_char_limit', '1000000')
  const write = async (writer: number) => {
    for (let count = 0; count < EACH; count++)
      expect(await hermes('memory', 'add', `entry ${writer}-${count} of many`)).toMatchObject({ exitCode: 0 })
  }
  await Promise.all(Array.from({ length: WRITERS }, (_, writer) => write(writer)))
  const entries = (await readFile(join(home, 'memories', 'MEMORY.md'), 'utf8')).trim().split('\n§\n')
  const expected = Array.from(
    { length: WRITERS * EACH },
    (_, index) => `entry ${index % WRITERS}-${Math.floor(index / WRITERS)} of many`,
  )
  expect(entries.toSorted()).toEqual(expected.toSorted())
})
