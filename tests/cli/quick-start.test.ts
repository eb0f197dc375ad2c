// The commands that the READMEs show, run by a shell as they stand there.
import { exec } from 'node:child_process'
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { CLI, cliEnv, runCli } from '../support/cli.js'
import { useScene } from '../support/scene.js'

const root = resolve(import.meta.dirname, '../..')
const scene = useScene()

/** The lines of a README's shell blocks that start the program, without comments. */
async function shownLines(readme: string): Promise<readonly string[]> {
  const blocks = [...(await readFile(join(root, readme), 'utf8')).matchAll(/```sh\n([\s\S]*?)```/g)]
  const lines = blocks.flatMap(([, block]) => block!.split('\n')).map((line) => line.replace(/\s+#.*/, '').trim())
  return lines.filter((line) => /(?:^|\| )(?:npx @hermes\/cli|hermes)(?: |$)/.test(line))
}

/** Runs `line` in a shell that has the built program as `hermes` and behind `npx`. */
async function runLine(line: string): Promise<string> {
  const { home, cwd } = scene
  const bin = join(cwd, '..', 'bin')
  await mkdir(bin, { recursive: true })
  const start = `exec '${process.execPath}' '${CLI}' "$@"\n`
  await writeFile(join(bin, 'npx'), `#!/bin/sh\nshift\n${start}`)
  await writeFile(join(bin, 'hermes'), `#!/bin/sh\n${start}`)
  for (const name of ['npx', 'hermes']) await chmod(join(bin, name), 0o755)
  const env = cliEnv({ home, env: { OPENAI_API_KEY: 'x' } })
  const run = promisify(exec)(line, { cwd, env: { ...env, PATH: `${bin}:${env['PATH']}` } })
  run.child.stdin?.end()
  return (await run).stdout
}

/** What `hermes setup` leaves behind. */
async function chooseModel(): Promise<void> {
  const { server, home, cwd } = scene
  server.enqueue({ text: 'ready' })
  const setup = await runCli(['setup', '--base-url', server.baseUrl, '--model', 'm'], { home, cwd })
  expect(setup).toMatchObject({ exitCode: 0 })
}

it.each(['README.md', 'apps/cli/README.md'])('the questions of %s are answered', async (readme) => {
  await chooseModel()
  await promisify(exec)('git init -q && echo one > a.txt && git add a.txt && echo two > a.txt', { cwd: scene.cwd })
  const lines = (await shownLines(readme)).filter((line) => line.includes('chat -q'))
  expect(lines.length).toBeGreaterThan(0)
  for (const line of lines) {
    scene.server.enqueue({ text: `Answer to ${line.length}.` })
    expect(await runLine(line)).toBe(`Answer to ${line.length}.\n`)
    if (line.startsWith('git diff |')) expect(JSON.stringify(scene.server.requests.at(-1)!.body)).toContain('+two')
  }
})

it('every line shown is a command that exists', async () => {
  const shown = [...(await shownLines('README.md')), ...(await shownLines('apps/cli/README.md'))]
  const starts = shown.filter((line) => !line.includes('chat -q'))
  expect(starts.length).toBeGreaterThan(0)
  for (const line of starts) expect(await runLine(`${line} --help`), line).toContain('Usage: hermes')
})
