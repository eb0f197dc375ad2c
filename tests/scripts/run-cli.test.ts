import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, cp, mkdir, mkdtemp, realpath, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterEach, beforeEach, expect, it } from 'vitest'

const scripts = join(import.meta.dirname, '../../scripts')
const BIN =
  'console.log(JSON.stringify({ cwd: process.cwd(), args: process.argv.slice(2), command: process.env.HERMES_COMMAND })); process.exitCode = 7'
let root: string

/** A workspace with the real scripts and a `turbo` that writes the CLI, or fails when a file `broken` exists. */
beforeEach(async () => {
  root = await realpath(await mkdtemp(join(tmpdir(), 'run-cli-')))
  for (const name of ['run-cli.mjs', 'build.mjs', 'stale.mjs'])
    await cp(join(scripts, name), join(root, 'scripts', name))
  await write('apps/cli/src/bin.ts', '')
  await write('packages/a/src/index.ts', '')
  await write('bin.txt', BIN)
  await write(
    'node_modules/.bin/turbo',
    '#!/bin/sh\necho turbo output\n[ -e broken ] && exit 1\nmkdir -p apps/cli/dist && cp -p bin.txt apps/cli/dist/bin.js\n',
  )
  await chmod(join(root, 'node_modules/.bin/turbo'), 0o755)
})
afterEach(() => rm(root, { recursive: true }))

async function write(path: string, content: string) {
  await mkdir(dirname(join(root, path)), { recursive: true })
  await writeFile(join(root, path), content)
}

function start(...args: string[]) {
  return spawn(process.execPath, [join(root, 'scripts/run-cli.mjs'), ...args], {
    cwd: root,
    env: { ...process.env, INIT_CWD: join(root, 'apps') },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
}

async function run(...args: string[]) {
  const child = start(...args)
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
  return { stdout, stderr, code }
}

it('builds first, then runs in the directory of the caller with nothing but the answer on stdout', async () => {
  const { stdout, stderr, code } = await run('chat', '-q', 'two words')
  expect(JSON.parse(stdout)).toEqual({
    cwd: join(root, 'apps'),
    args: ['chat', '-q', 'two words'],
    command: 'npx -y pnpm@12 hermes',
  })
  expect(stderr).toBe('Building Hermes (first run)…\n')
  expect(code).toBe(7)
})

it('builds again only when a source is newer', async () => {
  await run()
  expect((await run()).stderr).toBe('')
  const later = new Date(Date.now() + 10_000)
  await writeFile(join(root, 'packages/a/src/index.test.ts'), '')
  await utimes(join(root, 'packages/a/src/index.test.ts'), later, later)
  expect((await run()).stderr).toBe('')
  await utimes(join(root, 'packages/a/src/index.ts'), later, later)
  expect((await run()).stderr).toContain('Building Hermes (sources changed)…')
})

it('builds when the output is gone although no source changed', async () => {
  await run()
  await rm(join(root, 'apps/cli/dist'), { recursive: true })
  expect((await run()).code).toBe(7)
})

it('stops with one line after the output of a failed build', async () => {
  await write('broken', '')
  const { stdout, stderr, code } = await run()
  expect([stdout, code]).toEqual(['', 1])
  expect(stderr).toMatch(/turbo output\nThe build failed; its output is above.\n$/)
})

it.each([
  ['SIGTERM', 143],
  ['SIGINT', 130],
] as const)('hands %s on and exits as the CLI does', async (signal, expected) => {
  await write('bin.txt', "process.stdout.write('up'); setInterval(() => {}, 1000)")
  const child = start()
  await once(child.stdout, 'data')
  child.kill(signal)
  expect(await once(child, 'exit')).toEqual([expected, null])
})
