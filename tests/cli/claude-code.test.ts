// Claude Code, where it is installed, as a client of `hermes mcp serve`. What it sends its model is its own affair, so the model here is a server
// that takes anything.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { delimiter, join } from 'node:path'
import { json, text } from 'node:stream/consumers'
import { describe, expect, it } from 'vitest'
import { CLI, cliEnv, runCli } from '../support/cli.js'
import { useScene } from '../support/scene.js'

const CLAUDE = (process.env['PATH'] ?? '')
  .split(delimiter)
  .map((folder) => join(folder, 'claude'))
  .find(existsSync)

/** One content block of an answer. */
type Block =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'tool_use'; readonly id: string; readonly name: string; readonly input: object }

/** A model of the messages protocol that answers with one block. */
async function startModel(answer: (body: { readonly messages: unknown; readonly tools?: unknown }) => Block) {
  const server = createServer(async (request, response) => {
    if (request.method !== 'POST') {
      response.end()
      return
    }
    const body = (await json(request)) as { readonly messages: unknown; readonly stream?: boolean }
    const block = answer(body)
    const usage = { input_tokens: 1, output_tokens: 1 }
    const stop_reason = block.type === 'text' ? 'end_turn' : 'tool_use'
    const message = { id: 'm', type: 'message', role: 'assistant', model: 'm', usage, stop_sequence: null }
    if (!body.stream) {
      response.setHeader('content-type', 'application/json')
      response.end(JSON.stringify({ ...message, stop_reason, content: [block] }))
      return
    }
    const [start, delta] =
      block.type === 'text'
        ? [
            { ...block, text: '' },
            { type: 'text_delta', text: block.text },
          ]
        : [
            { ...block, input: {} },
            { type: 'input_json_delta', partial_json: JSON.stringify(block.input) },
          ]
    const events = [
      { type: 'message_start', message: { ...message, stop_reason: null, content: [] } },
      { type: 'content_block_start', index: 0, content_block: start },
      { type: 'content_block_delta', index: 0, delta },
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason, stop_sequence: null }, usage },
      { type: 'message_stop' },
    ]
    response.setHeader('content-type', 'text/event-stream')
    response.end(events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join(''))
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    [Symbol.asyncDispose]: async () => {
      server.close()
      server.closeAllConnections()
    },
  }
}

describe.skipIf(CLAUDE === undefined)('Claude Code (where it is installed)', () => {
  const scene = useScene()

  it('lists and searches sessions', async () => {
    const { server, cwd, folder } = scene
    server.enqueue({ text: 'The kettle is red.' })
    await runCli(['-q', 'Which colour has the kettle?', '--base-url', server.baseUrl, '-m', 'm'], scene)
    const { PATH: _path, HOME: _home, ...env } = cliEnv(scene)
    const hermes = { command: process.execPath, args: [CLI, 'mcp', 'serve'], env }
    await writeFile(join(folder, 'mcp.json'), JSON.stringify({ mcpServers: { hermes } }))
    const [list, search] = ['mcp__hermes__sessions_list', 'mcp__hermes__sessions_search']
    let last = ''
    let looks = 0
    const notes = join(cwd, 'notes.md')
    await writeFile(notes, 'Nothing new.\n')
    await using model = await startModel(({ messages, tools }) => {
      const sent = JSON.stringify(messages)
      const has = (id: string) => sent.includes(`"tool_use_id":"${id}"`)
      const call = (id: string, name: string, input: object) => ({ type: 'tool_use', id, name, input }) as const
      // It asks for titles too.
      if (!Array.isArray(tools) || tools.length === 0) return { type: 'text', text: 'A kettle' }
      // It does not wait for servers.
      if (!JSON.stringify(tools).includes(list)) return call(`toolu_read${looks++}`, 'Read', { file_path: notes })
      last = sent
      if (!has('toolu_list')) return call('toolu_list', list, {})
      if (!has('toolu_search')) return call('toolu_search', search, { query: 'kettle red' })
      return { type: 'text', text: 'It is in the sessions.' }
    })
    const args = ['-p', 'Where is the kettle?', '--mcp-config', join(folder, 'mcp.json'), '--strict-mcp-config']
    const child = spawn(CLAUDE!, [...args, '--allowedTools', `${list},${search}`], {
      cwd,
      env: {
        ...{ PATH: process.env['PATH']!, HOME: folder, ANTHROPIC_API_KEY: 'sk-ant-test-1234567890' },
        ...{ ANTHROPIC_BASE_URL: model.url, CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1' },
        ...{ ENABLE_TOOL_SEARCH: 'false', DISABLE_AUTOUPDATER: '1' },
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
    expect(stdout, stderr).toContain('It is in the sessions.')
    expect(last).toContain('Which colour has the kettle?')
    expect(last).toContain('The >>>kettle<<< is >>>red<<<.')
  })
})
