import { mkdir, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { type TemporaryHome, temporaryHome } from '@hermes/testkit'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { type CliResult, runCli } from '../support/cli.js'

const FOLDERS = ['user', 'work', 'tmp'] as const
let temporary: TemporaryHome

beforeEach(async () => {
  temporary = await temporaryHome()
  for (const folder of FOLDERS) await mkdir(join(temporary.path, folder))
})
afterEach(() => temporary.remove())

/** The demo as a new user runs it: no key, nothing in the home, a temporary folder of its own. */
function demo(env: Record<string, string> = {}): Promise<CliResult> {
  const at = (folder: (typeof FOLDERS)[number]) => join(temporary.path, folder)
  return runCli(['demo'], { home: join(at('user'), '.hermes'), cwd: at('work'), env: { TMPDIR: at('tmp'), ...env } })
}

async function filesLeft(): Promise<string[]> {
  const names = await Promise.all(FOLDERS.map((folder) => readdir(join(temporary.path, folder))))
  // What stays in the temporary folder: Node's own cache of compiled code, and the empty folder that isolated commands are kept out of.
  return names.flat().filter((name) => name !== 'node-compile-cache' && !/^hermes-code-\d+$/.test(name))
}

it('fixes the project and proves it, says what is recorded, uses nothing that the environment offers, and leaves no file', async () => {
  const { exitCode, stdout, stderr } = await demo({
    HERMES_COMMAND: 'npx -y pnpm@12 hermes',
    OPENAI_API_KEY: 'sk-of-the-user',
    OPENAI_BASE_URL: 'http://127.0.0.1:9/v1',
    HERMES_MODEL: 'another-model',
  })
  expect(stderr, 'If the recording no longer matches: pnpm gen:demo').toBe('')
  expect(exitCode).toBe(0)
  // The test fails first and passes at the end.
  const [before, proof] = stdout.split('Checking the project ourselves')
  expect(before).toContain('2 of 3 tests fail')
  expect(proof).toContain(
    'all tests pass\nThe demo project is fixed. Now yours: npx -y pnpm@12 hermes asks for a model, then for a task.\n',
  )
  expect(stdout.split('\n').filter((line) => /recording/.test(line))).toEqual([
    expect.stringMatching(/model speaks from a recording.*everything else is the real thing/),
  ])
  expect(await filesLeft()).toEqual([])
})
