import { spawnSync } from 'node:child_process'
import { chmod, cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'

const repository = join(import.meta.dirname, '../..')
let root: string

/** A workspace with the real script, setup and vitest, and a `turbo` that does nothing. */
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'test-script-'))
  for (const name of ['test.mjs', 'test-costs.mjs', 'build.mjs', 'entry-points.mjs'])
    await cp(join(repository, 'scripts', name), join(root, 'scripts', name))
  await cp(join(repository, 'tests/support'), join(root, 'support'), { recursive: true })
  await write('package.json', '{ "type": "module" }')
  await write('scripts/test-shares.json', '{ "clock": 600, "packages": { "a.test.ts": 60, "b.test.ts": 60 } }')
  await write(
    'vitest.config.mjs',
    "export default { test: { include: ['*.test.ts'], setupFiles: ['support/setup.ts'] } }",
  )
  await mkdir(join(root, 'node_modules/.bin'), { recursive: true })
  for (const name of ['vitest', 'fast-check'])
    await symlink(join(repository, 'node_modules', name), join(root, 'node_modules', name))
  await write('node_modules/.bin/turbo', '#!/bin/sh\n[ ! -e broken ]\n')
  await chmod(join(root, 'node_modules/.bin/turbo'), 0o755)
  await symlink(join(repository, 'node_modules/.bin/vitest'), join(root, 'node_modules/.bin/vitest'))
})
afterEach(() => rm(root, { recursive: true }))

async function write(path: string, content: string) {
  await mkdir(dirname(join(root, path)), { recursive: true })
  await writeFile(join(root, path), content)
}

function run(env: Record<string, string> = {}) {
  const { status, stdout } = spawnSync(process.execPath, [join(root, 'scripts/test.mjs')], {
    cwd: root,
    encoding: 'utf8',
    env: { ...process.env, HERMES_TEST_REQUIRE: '', HERMES_TEST_SEED: '42', ...env },
  })
  return { status, stdout, last: stdout.trimEnd().split('\n').at(-1) }
}

const NEEDS = `import { expect, it } from 'vitest'
import { needs } from './support/require.js'
needs('a fountain', false)('drinks', () => { it('sips', () => {}) })
needs('air', true)('breathes', () => { it('inhales', () => {}) })
`

it('skips by name what the machine lacks, says what each package took, and gives the printed seed to random tests', async () => {
  await write('a.test.ts', NEEDS)
  await write(
    'b.test.ts',
    "import { expect, it } from 'vitest'\nimport { readConfigureGlobal } from 'fast-check'\nit('b', () => expect(readConfigureGlobal().seed).toBe(42))",
  )
  await write('scripts/test-shares.json', '{ "clock": 600, "packages": { "a.test.ts": 0, "b.test.ts": 60 } }')
  const { status, stdout, last } = run()
  expect([status, last]).toEqual([1, '2 passed, 0 failed, 1 skipped'])
  expect(stdout).toContain('HERMES_TEST_SEED=42\n')
  expect(stdout).toMatch(/^a\.test\.ts +\d+\.\d s of 0 s {2}TOO MUCH$/m)
  expect(stdout).toMatch(/^b\.test\.ts +\d+\.\d s of 60 s$/m)
})

it('fails what the machine lacks when everything is required, and counts a file that does not load as one failure', async () => {
  await write('a.test.ts', NEEDS)
  await write('b.test.ts', "import './missing.js'")
  const { status, stdout, last } = run({ HERMES_TEST_REQUIRE: 'all' })
  expect([status, last]).toEqual([1, '1 passed, 2 failed, 0 skipped'])
  expect(stdout).toMatch(/^FAILED a\.test\.ts > .*a fountain/m)
  expect(stdout).toMatch(/^FAILED b\.test\.ts: .*missing\.js/m)
})

it('runs what failed once more, alone, and names at the end what passed then and what did not', async () => {
  await write(
    'a.test.ts',
    `import { existsSync, writeFileSync } from 'node:fs'
import { expect, it } from 'vitest'
it('comes second', () => {
  const isSecond = existsSync('ran')
  writeFileSync('ran', '')
  expect(isSecond).toBe(true)
})
`,
  )
  await write('b.test.ts', "import { it } from 'vitest'\nit('breaks', () => { throw new Error('broken') })")
  const { status, stdout, last } = run()
  expect([status, last]).toEqual([1, '1 passed, 1 failed, 0 skipped'])
  expect(stdout).toMatch(/^UNSTEADY, passed alone: a\.test\.ts > comes second: AssertionError: /m)
  expect(stdout).toContain('\nFAILED b.test.ts > breaks: Error: broken\n')
})

it('fails when nothing ran or nothing was built', async () => {
  const empty = run()
  expect([empty.status, empty.last]).toEqual([1, '0 passed, 1 failed, 0 skipped'])
  await write('a.test.ts', "import { it } from 'vitest'\nit('a', () => {})")
  await write('broken', '')
  const unbuilt = run()
  expect([unbuilt.status, unbuilt.last]).toEqual([1, '0 passed, 1 failed, 0 skipped'])
})

it('fails where a cell of the entry points names a test that did not run', async () => {
  await write(
    'a.test.ts',
    `import { it } from 'vitest'
it.each(['tea'])('drinks %s', () => {})
it.skipIf(process.env.DRY)('sips $3', () => {})
`,
  )
  const cells = { terminal: 'a.test.ts > drinks %s', oneshot: { why: 'no mouth' }, gateway: 'suite.ts > sips $3' }
  await write('docs/entry-points.json', JSON.stringify({ features: [{ feature: 'tea', ...cells }] }))
  expect(run({ HERMES_TEST_REQUIRE: 'all' })).toMatchObject({ status: 0, last: '2 passed, 0 failed, 0 skipped' })
  const dry = run({ HERMES_TEST_REQUIRE: 'all', DRY: '1' })
  expect(dry.last).toBe('1 passed, 1 failed, 1 skipped')
  expect(dry.stdout).toContain('FAILED docs/entry-points.json: tea, gateway: no test ran as "suite.ts > sips $3"')
  expect(dry.status).toBe(1)
})
