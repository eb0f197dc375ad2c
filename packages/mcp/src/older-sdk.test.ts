// Servers by the 1.x SDK, which most servers still run, with Hermes as their client.
import { spawn } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { silentLogger, systemClock } from '@hermes/contracts'
import type { Command, CommandContext } from '@hermes/contracts/extension'
import type { ToolContext } from '@hermes/contracts/tool'
import { createOriginFetch } from '@hermes/safety'
import { temporaryHome } from '@hermes/testkit'
import { expect, it } from 'vitest'
import { startProgram } from './__fixtures__/start-program.js'
import { answersFor } from './answers/answers.js'
import { RunningCalls } from './answers/running-calls.js'
import { PromptCommands } from './prompts/prompt-commands.js'
import { ListingFiles } from './servers/listing.js'
import { McpServer } from './servers/server.js'
import { readServers } from './settings/read-servers.js'
import { toolsOf } from './tools/server-tools.js'

const SERVER = fileURLToPath(new URL('./__fixtures__/older-server.mjs', import.meta.url))

/** The entry of a server that runs until the test ends, and what it writes about calls. */
async function serve(wire: 'stdio' | 'http' | 'sse', file: string) {
  await writeFile(file, '')
  if (wire === 'stdio')
    return { entry: { command: process.execPath, args: [SERVER, 'stdio', file] }, end: () => undefined }
  const child = spawn(process.execPath, [SERVER, wire, file], { stdio: ['ignore', 'pipe', 'inherit'] })
  const port = await new Promise<string>((resolve) => child.stdout.once('data', (line) => resolve(String(line).trim())))
  return { entry: { url: `http://127.0.0.1:${port}/${wire === 'http' ? 'mcp' : 'sse'}` }, end: () => void child.kill() }
}

it.each(['stdio', 'http', 'sse'] as const)('a server of the 1.x SDK is found out and used over %s', async (wire) => {
  await using home = await temporaryHome()
  const file = join(home.path, 'calls')
  const { entry, end } = await serve(wire, file)
  const [settings] = readServers({ older: entry }).servers
  const calls = new RunningCalls()
  const ports = { clock: systemClock, logger: silentLogger }
  const server = new McpServer({
    ...{ settings: settings!, version: '0', ...ports },
    listings: new ListingFiles(home.path),
    startProgram: async ({ address }) => startProgram(address.type === 'stdio' ? address.argv : []),
    fetchTo: (baseUrl) => createOriginFetch({ baseUrl }),
    answers: answersFor(settings!, { ...ports, calls, sample: null }),
  })
  const commands = new Map<string, Command>()
  const prompts = new PromptCommands({
    add: (command) => {
      commands.set(command.name, command)
      return { dispose: () => void commands.delete(command.name) }
    },
  })
  server.onChange(() => prompts.update(server))
  const progress: string[] = []
  const questions: string[] = []
  const names = () => toolsOf(server, calls).map(({ name }) => name.replace('mcp__older__', ''))
  const call = async (name: string, args: object = {}, signal = new AbortController().signal) => {
    const context = {
      ...{ sessionId: 'one', signal },
      permit: async () => ({ consume: () => undefined }),
      progress: (line: string) => progress.push(line),
      ask: async ({ question }: { readonly question: string }) => {
        questions.push(question)
        return { type: 'answered', text: 'Ada' }
      },
    }
    const tool = toolsOf(server, calls).find((one) => one.name === `mcp__older__${name}`)!
    return tool.execute(args, context as unknown as ToolContext)
  }
  try {
    await server.connect()
    expect(server.listing).toMatchObject({ kind: 'legacy', version: 'older 1' })
    expect(names()).toEqual(['echo', 'fail', 'ask', 'slow', 'grow', 'restart', 'list_resources', 'read_resource'])
    expect(await call('echo', { text: 'hello' })).toMatchObject({ text: 'You said hello', data: { text: 'hello' } })
    expect(await call('echo', { text: 7 })).toMatchObject({ isError: true, text: expect.stringContaining('text') })
    expect(await call('fail')).toMatchObject({ isError: true, text: 'The kettle is broken.' })
    expect(await call('list_resources')).toMatchObject({ text: 'tea://leaf leaf: A leaf.' })
    expect(await call('read_resource', { uri: 'tea://leaf' })).toMatchObject({ parts: [{ text: 'It is green.' }] })
    expect(await call('ask')).toMatchObject({ text: 'accept Ada' })
    expect(questions[0]).toMatch(/^The MCP server older asks: Who are you\?/)
    const brew = commands.get('mcp-older-brew')!
    const context = { signal: new AbortController().signal } as CommandContext
    expect(await brew.run({ kind: 'green' }, context)).toMatchObject({ change: { text: 'Brew green tea.' } })
    const stop = new AbortController()
    const slow = call('slow', {}, stop.signal)
    await expect.poll(() => progress).toContain('Heating (1 of 3)')
    stop.abort(new DOMException('Stopped.', 'AbortError'))
    await expect(slow).rejects.toMatchObject({ name: 'AbortError' })
    await expect.poll(() => readFile(file, 'utf8')).toBe('given up\n')
    await call('grow')
    await expect.poll(names).toContain('grown')
    await expect.poll(() => [...commands.keys()]).toEqual(['mcp-older-brew', 'mcp-older-late'])
    for (const status of wire === 'http' ? [404, 400] : []) {
      await call('restart', { status })
      const again = await Promise.all(['one', 'two', 'three'].map((text) => call('echo', { text })))
      expect(again).toMatchObject([{ text: 'You said one' }, { text: 'You said two' }, { text: 'You said three' }])
    }
  } finally {
    await server.close()
    end()
  }
})
