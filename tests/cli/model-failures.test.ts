// Model servers that fail in the middle of things: retried where that helps, one clear line, and the session goes on.
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { FaultStep } from '@hermes/testkit'
import { beforeEach, describe, expect, it } from 'vitest'
import { runCli } from '../support/cli.js'
import { useScene } from '../support/scene.js'

const scene = useScene()
beforeEach(() => mkdir(scene.home, { recursive: true }))

const configure = (retries: number) =>
  writeFile(
    join(scene.home, 'config.yaml'),
    `agent:\n  api_max_retries: ${retries}\nproviders:\n  custom:\n    stale_timeout_seconds: 1\n    request_timeout_seconds: 1\n`,
  )
const chat = (...args: readonly string[]) =>
  runCli(['chat', ...args, '--base-url', scene.server.baseUrl, '-m', 'm'], scene)

describe('a model server that fails', () => {
  it.each<[string, FaultStep, RegExp]>([
    ['stalls', { fault: 'stall', text: 'Half an answer.', afterChunks: 2 }, /sent nothing for 1 s/],
    ['cuts the connection', { fault: 'cut', text: 'Half an answer.' }, /broke|middle/],
    ['answers with a web page', { fault: 'html' }, /web page.*base URL/],
    ['fails inside', { fault: 'status', status: 500 }, /answered 500 \(internal error\)/],
  ])('gives one clear line when it %s, and the session goes on', async (_, fault, line) => {
    await configure(0)
    scene.server.enqueue(fault)
    const failed = await chat('-q', 'First question.')
    expect(failed).toMatchObject({ exitCode: 1, stdout: '' })
    expect(failed.stderr).toMatch(line)
    expect(failed.stderr).toMatch(/^hermes: [^\n]+\nThe session is kept; go on with: hermes chat -r \S+\n$/)
    scene.server.enqueue({ text: 'Now it works.' })
    expect(await chat('-c')).toMatchObject({ exitCode: 0, stdout: 'Now it works.\n', stderr: '' })
    expect(scene.server.requests.at(-1)!.body.messages.at(-1)).toMatchObject({
      role: 'user',
      content: 'First question.',
    })
    expect(scene.server.violations).toEqual([])
  })

  it('is asked again, says so, and what had streamed before is no part of the answer', async () => {
    await configure(1)
    scene.server.enqueue({ fault: 'cut', text: 'Half an answer.' }, { text: 'The whole answer.' })
    const result = await chat('-q', 'Question.')
    expect(result).toMatchObject({ exitCode: 0, stdout: 'The whole answer.\n' })
    expect(result.stderr).toMatch(/Trying again in [\d.]+ s \(attempt 1\)\.\n$/)
    const shown = await runCli(['sessions', 'show', await newest()], scene)
    expect(shown.stdout).not.toContain('Half')
  })
})

async function newest(): Promise<string> {
  const { stdout } = await runCli(['sessions', 'list', '--json'], scene)
  return (JSON.parse(stdout.split('\n')[0]!) as { id: string }).id
}
