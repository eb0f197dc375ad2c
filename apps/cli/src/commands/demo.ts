import { execFile } from 'node:child_process'
import { mkdtemp, realpath, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { createSessionHost } from '@hermes/host'
import { TASK, writeProject } from '../demo/project.js'
import { EXIT } from '../errors.js'
import type { Io } from '../io.js'
import { openCli } from '../open-cli.js'
import { createProgressView } from '../render/progress.js'
import { createStyle } from '../render/style.js'

/** The agent fixes a small broken project in a temporary folder. No key, no network; the user's home is not touched. */
export async function demo(
  io: Io,
  options: { readonly record?: string; readonly baseUrl?: string } = {},
): Promise<number> {
  const root = await realpath(await mkdtemp(join(io.tempDir, 'hermes-demo-')))
  const cwd = join(root, 'project')
  const style = createStyle(io.stdout)
  try {
    await writeProject(cwd)
    io.stdout.write(`${style.bold('hermes demo')}: a small broken project in ${cwd}\n`)
    io.stdout.write(
      `${style.dim('The model speaks from a recording served over HTTP on this machine; everything else is the real thing.')}\n\n`,
    )
    io.stdout.write(`${style.green('>')} ${TASK}\n\n`)
    const status = await repair({ ...io, cwd, env: demoEnv(io, root) }, options)
    if (status !== 'completed') return EXIT.failed
    return await verify(io, cwd)
  } finally {
    await rm(root, { recursive: true, force: true })
  }
}

function demoEnv(io: Io, root: string): Record<string, string> {
  const path = [dirname(io.nodePath), io.env['PATH'] ?? '/usr/bin:/bin'].join(':')
  return { ...io.env, HERMES_HOME: join(root, 'home'), HERMES_PROFILE: '', PATH: path }
}

async function repair(io: Io, options: { readonly record?: string; readonly baseUrl?: string }): Promise<string> {
  const runtime = await openCli(io, { yolo: true })
  const replay = options.baseUrl ? {} : { replay: fileURLToPath(new URL('./recording.jsonl', import.meta.url)) }
  try {
    const session = createSessionHost({ runtime }).open({
      provider: 'custom',
      model: 'demo-model',
      platform: 'cli',
      toolsets: ['coding'],
      ...replay,
      ...options,
      permissions: 'deny',
    })
    const view = createProgressView({ output: io.stdout, text: true })
    const stopListening = io.onInterrupt(() => session.interrupt('interrupted from the terminal'))
    const turn = session.send(TASK)
    for await (const event of turn) view.show(event)
    stopListening()
    const result = await turn.result
    if (result.error) io.stderr.write(`hermes: ${result.error.message}\n`)
    return result.status
  } finally {
    await runtime.close()
  }
}

/** The proof at the end: the project's own test, run by us and not by the agent. */
async function verify(io: Io, cwd: string): Promise<number> {
  const style = createStyle(io.stdout)
  io.stdout.write(`\n${style.dim('Checking the project ourselves: node slug.test.js')}\n`)
  try {
    const { stdout } = await promisify(execFile)(io.nodePath, ['slug.test.js'], { cwd })
    io.stdout.write(
      `${stdout}${style.green('The demo project is fixed.')} Now yours: ${io.env['HERMES_COMMAND'] ?? 'hermes'} asks for a model, then for a task.\n`,
    )
    return EXIT.ok
  } catch (error) {
    io.stdout.write(`${(error as { stdout?: string }).stdout ?? ''}${style.red('The test still fails.')}\n`)
    return EXIT.failed
  }
}
