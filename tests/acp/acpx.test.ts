import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { startModelServer, temporaryHome } from '@hermes/testkit'
import { describe, expect, it } from 'vitest'
import { ACP, type WireLine } from '../support/acp.js'
import { wireViolations } from '../support/acp-wire.js'
import { cliEnv } from '../support/cli.js'
import { withoutTitles } from '../support/without-titles.js'

const require = createRequire(import.meta.url)
const ACPX = require.resolve('acpx')

describe('acpx', () => {
  it('completes a prompt with tools, and every message keeps to the official schema', async () => {
    await using temporary = await temporaryHome()
    const home = join(temporary.path, 'user', '.hermes')
    const cwd = join(temporary.path, 'project')
    await mkdir(join(cwd, 'old'), { recursive: true })
    withoutTitles(home)
    const server = await startModelServer([
      {
        reasoning: 'Two things.',
        toolCalls: [
          { name: 'todo_write', args: { todos: [{ id: '1', content: 'write it', status: 'in_progress' }] } },
          { name: 'write_file', args: { path: 'hello.txt', content: 'hello\n' } },
        ],
      },
      { toolCalls: [{ name: 'terminal', args: { command: 'rm -rf old && ls' } }] },
      { text: 'Written and tidied.' },
    ])
    try {
      const agent = `${process.execPath} ${ACP} --base-url ${server.baseUrl} -m m`
      const args = ['--agent', agent, '--cwd', cwd, '--approve-all', '--format', 'json', 'exec', 'Write hello.']
      const child = spawn(process.execPath, [ACPX, ...args], {
        env: cliEnv({ home }),
        stdio: ['ignore', 'pipe', 'pipe'],
      })
      const [stdout, stderr, [exitCode]] = await Promise.all([
        text(child.stdout),
        text(child.stderr),
        once(child, 'close'),
      ])
      expect({ exitCode, stderr }).toMatchObject({ exitCode: 0 })
      expect(await readFile(join(cwd, 'hello.txt'), 'utf8')).toBe('hello\n')
      expect(server.violations).toEqual([])

      const wire = stdout
        .split('\n')
        .filter((line) => line.startsWith('{"jsonrpc"'))
        .map(withSender)
      expect(wire.length).toBeGreaterThan(15)
      expect(wireViolations(wire)).toEqual([])
      for (const text of ['"plan"', '"diff"', 'session/request_permission', 'Written and tidied.', '"end_turn"'])
        expect(stdout).toContain(text)
    } finally {
      await server.close()
    }
  })
})

const OF_AGENT = new Set(['session/update', 'session/request_permission'])

/** Who said a line of acpx's log: requests by their method, answers by whose request has the id. */
function withSender(line: string): WireLine {
  const { method, result } = JSON.parse(line) as { method?: string; result?: object }
  if (method !== undefined) return { from: OF_AGENT.has(method) ? 'agent' : 'client', line }
  return { from: result && 'outcome' in result ? 'client' : 'agent', line }
}
