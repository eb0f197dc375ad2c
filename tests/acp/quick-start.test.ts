import { mkdir, readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { startModelServer, temporaryHome } from '@hermes/testkit'
import { describe, expect, it } from 'vitest'
import { ACP, agentText, startEditor } from '../support/acp.js'
import { CLI, runCli } from '../support/cli.js'

const README = resolve(import.meta.dirname, '../../apps/acp/README.md')

interface Settings {
  readonly agent_servers: Readonly<
    Record<string, { readonly command: string; readonly args: readonly string[]; readonly env: Record<string, string> }>
  >
}

/** The editor settings that the README shows. */
async function shownSettings(): Promise<Settings> {
  const block = /```json\n([\s\S]*?)```/.exec(await readFile(README, 'utf8'))
  return JSON.parse(block![1]!) as Settings
}

describe('the quick start', () => {
  it.each([
    ['the settings of the README', ACP],
    ['hermes acp', CLI],
  ])('answers a prompt when started by %s', async (title, program) => {
    const { command, args, env } = (await shownSettings()).agent_servers['Hermes']!
    expect([command, ...args]).toEqual(['npx', '-y', '@hermes/acp'])
    await using temporary = await temporaryHome()
    const home = join(temporary.path, 'user', '.hermes')
    const cwd = join(temporary.path, 'project')
    await mkdir(cwd)
    const server = await startModelServer([{ text: 'Hello, editor.' }])
    try {
      const flags = ['--base-url', server.baseUrl, '-m', 'm']
      const rest = title === 'hermes acp' ? ['acp', ...flags] : [...args.slice(2), ...flags]
      const editor = await startEditor(rest, { home, cwd, env, program })
      expect(await editor.prompt(await editor.newSession(cwd), 'Hi.')).toBe('end_turn')
      expect(agentText(editor.updates)).toBe('Hello, editor.')
      expect(await editor.leave()).toBe(0)
    } finally {
      await server.close()
    }
  })

  it('explains flags, version and mistakes without speaking the protocol', async () => {
    await using temporary = await temporaryHome()
    const run = (...args: string[]) =>
      runCli(['acp', ...args], { home: join(temporary.path, '.hermes'), cwd: temporary.path })
    expect(await run('--version')).toMatchObject({ exitCode: 0, stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/) })
    expect((await run('--help')).stdout).toContain('--base-url')
    expect(await run('--modle', 'x')).toMatchObject({
      exitCode: 2,
      stdout: '',
      stderr: expect.stringMatching(/^hermes acp: Unknown option '--modle'\. Valid flags: [^\n]*--model[^\n]*\n$/),
    })
    expect(await run('--max-turns', 'many')).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('whole number'),
    })
  })
})
