import { mkdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { McpServer, SessionUpdate } from '@agentclientprotocol/sdk'
import { checkPrefix } from '@hermes/testkit'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { agentText, type Editor, type EditorBehaviour, startEditor } from '../support/acp.js'
import { wireViolations } from '../support/acp-wire.js'
import { runCli } from '../support/cli.js'
import { useScene } from '../support/scene.js'
import { withoutTitles } from '../support/without-titles.js'

const MCP_SERVER = join(import.meta.dirname, '../../packages/runtime/src/__fixtures__/mcp-server.mjs')

const scene = useScene()
let editor: Editor | null

beforeEach(() => {
  editor = null
})
afterEach(async () => {
  if (editor) {
    expect(await editor.leave()).toBe(0)
    expect(wireViolations(editor.process.wire)).toEqual([])
    expect(editor.process.stderr()).not.toMatch(/\n\s+at |[Uu]nhandled/)
  }
  expect(scene.server.violations).toEqual([])
})

async function open(behaviour: EditorBehaviour = {}, flags: readonly string[] = []): Promise<Editor> {
  editor = await startEditor(['--base-url', scene.server.baseUrl, '-m', 'm', ...flags], scene, behaviour)
  return editor
}

const kinds = (updates: Editor['updates']) => updates.map(({ update }) => update.sessionUpdate)
const finished = (id: string) => (update: SessionUpdate) =>
  update.sessionUpdate === 'tool_call_update' && update.toolCallId === id && update.status !== 'pending'

describe('a greeting', () => {
  it('names version, abilities and the way to a key', async () => {
    const { greeting, agent } = await open()
    expect(greeting).toMatchObject({
      protocolVersion: 1,
      agentInfo: { name: 'hermes' },
      agentCapabilities: {
        loadSession: true,
        promptCapabilities: { image: true, embeddedContext: true, audio: true },
      },
      authMethods: [{ id: 'hermes-setup' }],
    })
    const newer = await agent.request('initialize', { protocolVersion: 99 })
    expect(newer.protocolVersion).toBe(1)
  })
})

describe('a prompt', () => {
  it('streams thoughts, text, edits with diffs and the plan, and asks before what is dangerous', async () => {
    await mkdir(join(scene.cwd, 'old'))
    scene.server.enqueue(
      {
        reasoning: 'First the file.',
        text: 'I begin.',
        toolCalls: [
          { name: 'write_file', args: { path: 'notes.txt', content: 'one\ntwo\n' } },
          { name: 'todo_write', args: { todos: [{ id: '1', content: 'tidy up', status: 'in_progress' }] } },
        ],
      },
      { toolCalls: [{ name: 'patch', args: { path: 'notes.txt', old_string: 'two', new_string: 'three' } }] },
      { toolCalls: [{ name: 'read_file', args: { path: 'notes.txt', offset: 2 } }] },
      { toolCalls: [{ name: 'terminal', args: { command: 'rm -rf old' } }] },
      { text: 'Done.' },
    )
    const { newSession, prompt, updates, permissions } = await open()
    const sessionId = await newSession(scene.cwd)
    expect(await prompt(sessionId, 'Tidy up.')).toBe('end_turn')

    const path = join(scene.cwd, 'notes.txt')
    expect(await readFile(path, 'utf8')).toBe('one\nthree\n')
    await expect(stat(join(scene.cwd, 'old'))).rejects.toThrow(/ENOENT/)
    expect(new Set(updates.map((entry) => entry.sessionId))).toEqual(new Set([sessionId]))
    // Where commands cannot be isolated a notice says so.
    expect(agentText(updates, 'agent_thought_chunk')).toContain('First the file.')
    expect(agentText(updates)).toBe('I begin.Done.')
    const of = (kind: string) => updates.map(({ update }) => update).filter((update) => update.sessionUpdate === kind)
    expect(of('plan')).toEqual([
      { sessionUpdate: 'plan', entries: [{ content: 'tidy up', priority: 'medium', status: 'in_progress' }] },
    ])
    expect(of('tool_call')).toMatchObject([
      {
        kind: 'edit',
        title: 'write notes.txt',
        locations: [{ path }],
        content: [{ type: 'diff', path, oldText: null }],
      },
      { kind: 'think' },
      { kind: 'edit', locations: [{ path }], content: [{ type: 'diff', oldText: 'two', newText: 'three' }] },
      { kind: 'read', locations: [{ path, line: 2 }] },
      { kind: 'execute', title: 'rm -rf old' },
    ])
    const ends = of('tool_call_update').filter((update) => 'status' in update && update.status === 'completed')
    expect(ends).toHaveLength(5)
    expect(ends[2]).toMatchObject({
      content: [{ type: 'diff', path, oldText: 'one\ntwo', newText: 'one\nthree' }],
      locations: [{ path, line: 1 }],
    })
    expect(JSON.stringify(ends[3])).toContain('three')

    expect(permissions).toHaveLength(1)
    expect(permissions[0]).toMatchObject({ sessionId, toolCall: { status: 'pending' } })
    expect(permissions[0]!.options).toEqual([
      { optionId: 'once', name: 'Allow once', kind: 'allow_once' },
      { optionId: 'session', name: 'Allow for this session', kind: 'allow_always' },
      { optionId: 'always', name: expect.stringMatching(/^Always allow: terminal\(/), kind: 'allow_always' },
      { optionId: 'deny', name: 'Reject', kind: 'reject_once' },
    ])
    const calls = of('tool_call') as { toolCallId: string }[]
    expect(permissions[0]!.toolCall.toolCallId).toBe(calls[4]!.toolCallId)
  })

  it('keeps calls apart when a model names them alike', async () => {
    const call = { id: 'call_1', name: 'terminal', args: { command: 'echo hi' } }
    scene.server.enqueue({ toolCalls: [call] }, { toolCalls: [call] }, { text: 'Twice.' })
    const { newSession, prompt, updates } = await open()
    await prompt(await newSession(scene.cwd), 'Say hi twice.')
    const ids = updates.flatMap(({ update }) => (update.sessionUpdate === 'tool_call' ? [update.toolCallId] : []))
    expect(new Set(ids).size).toBe(2)
    for (const id of ids) expect(updates.some(({ update }) => finished(id)(update))).toBe(true)
  })

  it('says where another reply takes the place of one that broke off, and the same one once', async () => {
    scene.server.enqueue({ fault: 'cut', text: 'Half an ans', chunkSize: 4, afterChunks: 2 }, { text: 'The answer.' })
    const { newSession, prompt, updates } = await open()
    const id = await newSession(scene.cwd)
    expect(await prompt(id, 'Ask.')).toBe('end_turn')
    expect(agentText(updates)).toMatch(/^Half.*asked again, it says.*The answer\.$/s)
    const before = agentText(updates)
    const cut = { fault: 'cut', text: 'All of it, once.', chunkSize: 4, afterChunks: 2 } as const
    scene.server.enqueue(cut, { text: 'All of it, once.' })
    expect(await prompt(id, 'Again.')).toBe('end_turn')
    expect(agentText(updates)).toBe(`${before}All of it, once.`)
  }, 60_000)

  it('shows an answer that did not come as a stream', async () => {
    scene.server.enqueue({ fault: 'no-stream', text: 'All at once.' })
    const { newSession, prompt, updates } = await open()
    await prompt(await newSession(scene.cwd), 'Ask.')
    expect(agentText(updates)).toBe('All at once.')
  })

  it('takes links, embedded text, images, sound and PDFs', async () => {
    scene.server.enqueue({ text: 'Seen.' }, { text: 'Heard.' })
    const { agent, newSession } = await open()
    const sessionId = await newSession(scene.cwd)
    const image = 'iVBORw0KGgo='
    await writeFile(join(scene.cwd, 'a b.txt'), 'one\nlinked words\nthree\n')
    await agent.request('session/prompt', {
      sessionId,
      prompt: [
        { type: 'text', text: 'Look at these.' },
        { type: 'resource_link', uri: `file://${scene.cwd}/a%20b.txt#L2`, name: 'a b.txt' },
        { type: 'resource_link', uri: 'https://example.com/page', name: 'a page' },
        { type: 'resource', resource: { uri: 'file:///x/c.txt', text: 'embedded words' } },
        { type: 'image', mimeType: 'image/png', data: image },
      ],
    })
    const requested = JSON.stringify(scene.server.requests[0]!.body.messages.at(-1))
    expect(requested).toContain('[Attached: https://example.com/page]')
    expect(requested).toMatch(/a b\.txt:2[\\"]+>[\\n]+linked words[\\n]+<\/attached>/)
    expect(requested).toContain('embedded words')
    expect(requested).toContain(image)
    const sound = { type: 'audio', mimeType: 'audio/wav', data: 'AAAA' } as const
    const pdf = { uri: 'file:///x/plan.pdf', mimeType: 'application/pdf', blob: 'JVBERi0=' } as const
    await agent.request('session/prompt', { sessionId, prompt: [sound, { type: 'resource', resource: pdf }] })
    const media = JSON.stringify(scene.server.requests.at(-1)!.body.messages.at(-1))
    expect(media).toContain('"input_audio":{"data":"AAAA","format":"wav"}')
    expect(media).toContain('data:application/pdf;base64,JVBERi0=')
  })

  it('ends with max_turn_requests when that is why', async () => {
    scene.server.enqueue({ toolCalls: [{ name: 'terminal', args: { command: 'true' } }] }, { text: 'Summed up.' })
    const { newSession, prompt } = await open({}, ['--max-turns', '1'])
    expect(await prompt(await newSession(scene.cwd), 'Go.')).toBe('max_turn_requests')
  })

  it('ends with refusal or max_tokens when that is why', async () => {
    const { newSession, prompt } = await open()
    scene.server.enqueue({ text: 'No', finishReason: 'content_filter' })
    expect(await prompt(await newSession(scene.cwd), 'Go.')).toBe('refusal')
    scene.server.setHandler(() => ({ text: 'more ', finishReason: 'length' }))
    expect(await prompt(await newSession(scene.cwd), 'Go.')).toBe('max_tokens')
  })
})

describe('permission', () => {
  const dangerous = { toolCalls: [{ name: 'terminal', args: { command: 'rm -rf old' } }] }

  // One process for all of them: what differs is the answer.
  it('counts all but a yes as a no and tells the model', async () => {
    const answers: Readonly<Record<string, EditorBehaviour['permission'] & object>> = {
      'a rejection': async () => ({ outcome: { outcome: 'selected', optionId: 'deny' } }),
      'a cancelled question': async () => ({ outcome: { outcome: 'cancelled' } }),
      'an option that was not offered': async () => ({ outcome: { outcome: 'selected', optionId: 'whatever' } }),
      'an answer that is none': async () => ({}) as never,
      'an error': () => Promise.reject(new Error('not now')),
    }
    await mkdir(join(scene.cwd, 'old'))
    let answer = answers['a rejection']!
    const { newSession, prompt, updates } = await open({ permission: (request) => answer(request) })
    for (const [name, next] of Object.entries(answers)) {
      answer = next
      scene.server.enqueue(dangerous, { text: 'As you wish.' })
      const sessionId = await newSession(scene.cwd)
      expect(await prompt(sessionId, 'Delete it.'), name).toBe('end_turn')
      expect((await stat(join(scene.cwd, 'old'))).isDirectory(), name).toBe(true)
      expect(JSON.stringify(scene.server.requests.at(-1)!.body.messages.at(-1)), name).toMatch(/Not permitted.*said no/)
      const own = updates.filter((entry) => entry.sessionId === sessionId)
      expect(
        own.some(({ update }) => 'status' in update && update.status === 'failed'),
        name,
      ).toBe(true)
    }
  })

  it('asks once when the answer is for the whole session', async () => {
    scene.server.enqueue(dangerous, dangerous, { text: 'Gone.' })
    const { newSession, prompt, permissions } = await open({
      permission: async () => ({ outcome: { outcome: 'selected', optionId: 'session' } }),
    })
    await prompt(await newSession(scene.cwd), 'Delete it twice.')
    expect(permissions).toHaveLength(1)
  })

  it('is asked for what a helper wants too, which says so and is obeyed', async () => {
    const folders = ['apples', 'pears'].map((name) => join(scene.cwd, name))
    for (const folder of folders) await mkdir(folder)
    scene.server.setHandler(({ body }) => {
      const messages = JSON.stringify(body.messages)
      if (body.messages.at(-1)!.role === 'tool') return { text: 'Done.' }
      if (!String(body.messages[0]?.content).startsWith('You were started by another agent'))
        return {
          toolCalls: [{ name: 'delegate_task', args: { tasks: [{ goal: 'rm apples' }, { goal: 'rm pears' }] } }],
        }
      return {
        toolCalls: [
          { name: 'terminal', args: { command: `rm -rf ${messages.includes('rm apples') ? 'apples' : 'pears'}` } },
        ],
      }
    })
    const { newSession, prompt, permissions } = await open({
      permission: async ({ toolCall }) => ({
        outcome: { outcome: 'selected', optionId: toolCall.title?.includes('apples') ? 'once' : 'deny' },
      }),
    })
    const sessionId = await newSession(scene.cwd)
    expect(await prompt(sessionId, 'Have them deleted.')).toBe('end_turn')
    expect(permissions.map((requested) => requested.sessionId)).toEqual([sessionId, sessionId])
    expect(permissions.every(({ toolCall }) => /^A helper \(task-\d\) asks: /.test(toolCall.title ?? ''))).toBe(true)
    await expect(stat(folders[0]!)).rejects.toThrow(/ENOENT/)
    expect((await stat(folders[1]!)).isDirectory()).toBe(true)
  })

  it('lets a prompt end when nobody ever answers, and the session goes on', async () => {
    await mkdir(scene.home, { recursive: true })
    await writeFile(join(scene.home, 'config.yaml'), 'approvals:\n  timeout: 1\n')
    scene.server.enqueue(dangerous)
    const { newSession, prompt, updates } = await open({ permission: () => new Promise(() => undefined) })
    const sessionId = await newSession(scene.cwd)
    expect(await prompt(sessionId, 'Delete it.')).toBe('end_turn')
    expect(agentText(updates)).toContain('Nobody answered')
    scene.server.enqueue({ text: 'Still here.' })
    expect(await prompt(sessionId, 'Never mind.')).toBe('end_turn')
    expect(agentText(updates)).toContain('Still here.')
  })
})

describe('questions', () => {
  const clarify = { toolCalls: [{ name: 'clarify', args: { question: 'Tabs?', choices: ['tabs', 'spaces'] } }] }
  const toolNames = () => JSON.stringify(scene.server.requests[0]!.body.tools)

  it('reach the user as a form where the editor has forms', async () => {
    scene.server.enqueue(clarify, { text: 'Spaces then.' })
    const { newSession, prompt } = await open({
      capabilities: { elicitation: { form: {} } },
      elicitation: (request) => {
        expect(request).toMatchObject({ mode: 'form', message: 'Tabs?' })
        return { action: 'accept', content: { choice: 'spaces' } }
      },
    })
    await prompt(await newSession(scene.cwd), 'Format it.')
    expect(toolNames()).toContain('"clarify"')
    expect(JSON.stringify(scene.server.requests[1]!.body.messages.at(-1))).toContain('The user answered: spaces')
  })

  it('are text with numbered choices where the editor has no forms, and the next prompt answers them', async () => {
    scene.server.enqueue(clarify, { text: 'Spaces then.' })
    const { newSession, prompt, updates } = await open()
    const session = await newSession(scene.cwd)
    await prompt(session, 'Format it.')
    expect(JSON.stringify(updates)).toContain(
      'Tabs?\\n1. tabs\\n2. spaces\\nAnswer with a number, or in your own words.',
    )
    await prompt(session, '2')
    expect(toolNames()).toContain('"clarify"')
    expect(JSON.stringify(scene.server.requests[1]!.body.messages.at(-1))).toContain('The user answered: spaces')
  })
})

describe('cancelling', () => {
  it('ends a tool that runs, answers with cancelled, and the session goes on', async () => {
    scene.server.enqueue({ toolCalls: [{ name: 'terminal', args: { command: 'echo started; sleep 60' } }] })
    const { agent, newSession, prompt, update, updates } = await open()
    const sessionId = await newSession(scene.cwd)
    const stop = prompt(sessionId, 'Wait.')
    await update((item) => item.sessionUpdate === 'tool_call_update' && JSON.stringify(item).includes('started'))
    await agent.notify('session/cancel', { sessionId })
    expect(await stop).toBe('cancelled')
    scene.server.enqueue({ text: 'Here again.' })
    expect(await prompt(sessionId, 'Go on.')).toBe('end_turn')
    expect(agentText(updates)).toContain('Here again.')
    expect(checkPrefix(scene.server.requests[0]!, scene.server.requests[1]!)).toBeNull()
  })

  it('ends a reply of the model', async () => {
    scene.server.enqueue({ fault: 'stall', text: 'Slowly', chunkSize: 3, afterChunks: 2 })
    const { agent, newSession, prompt, update } = await open()
    const sessionId = await newSession(scene.cwd)
    const stop = prompt(sessionId, 'Talk.')
    await update((item) => item.sessionUpdate === 'agent_message_chunk')
    await agent.notify('session/cancel', { sessionId })
    expect(await stop).toBe('cancelled')
    expect(await scene.server.requests[0]!.ended).toBe('closed')
  })

  it('does not overtake the prompt it was sent right after', async () => {
    scene.server.setHandler(() => ({ fault: 'stall', text: '' }))
    const { agent, newSession, prompt } = await open()
    const sessionId = await newSession(scene.cwd)
    const stop = prompt(sessionId, 'Talk.')
    await agent.notify('session/cancel', { sessionId })
    expect(await stop).toBe('cancelled')
  })
})

describe('sessions', () => {
  it('live side by side, each in its own folder', async () => {
    const folders = [join(scene.cwd, 'left'), join(scene.cwd, 'right')]
    for (const folder of folders) await mkdir(folder)
    scene.server.setHandler(({ body }) =>
      body.messages.at(-1)!.role === 'tool'
        ? { text: 'Written.' }
        : { toolCalls: [{ name: 'terminal', args: { command: 'pwd > where.txt' } }] },
    )
    const { newSession, prompt } = await open()
    const ids = await Promise.all(folders.map((folder) => newSession(folder)))
    expect(await Promise.all(ids.map((id) => prompt(id, 'Where?')))).toEqual(['end_turn', 'end_turn'])
    for (const folder of folders) expect(await readFile(join(folder, 'where.txt'), 'utf8')).toBe(`${folder}\n`)
  })

  it('begun in the terminal are shown in order and go on with the same prefix', async () => {
    await writeFile(join(scene.cwd, 'notes.txt'), 'blue\n')
    scene.server.enqueue(
      { reasoning: 'Look.', toolCalls: [{ name: 'read_file', args: { path: 'notes.txt' } }] },
      { text: 'It says blue.' },
    )
    const flags = ['--base-url', scene.server.baseUrl, '-m', 'm']
    await runCli(['chat', '-q', 'What does it say?', ...flags], scene)
    const listed = await runCli(['sessions', 'list', '--json'], scene)
    const { id } = JSON.parse(listed.stdout) as { id: string }

    const { agent, prompt, updates, update } = await open()
    await agent.request('session/load', { sessionId: id, cwd: scene.cwd, mcpServers: [] })
    await update((item) => item.sessionUpdate === 'available_commands_update')
    expect(kinds(updates)).toEqual([
      'user_message_chunk',
      'agent_thought_chunk',
      'tool_call',
      'tool_call_update',
      'agent_message_chunk',
      'available_commands_update',
    ])
    expect(agentText(updates, 'user_message_chunk')).toBe('What does it say?')
    expect(updates[3]!.update).toMatchObject({ status: 'completed' })
    expect(JSON.stringify(updates[3]!.update)).toContain('blue')

    scene.server.enqueue({ text: 'Still blue.' })
    expect(await prompt(id, 'And now?')).toBe('end_turn')
    expect(checkPrefix(scene.server.requests[0]!, scene.server.requests[1]!)).toBeNull()
    expect(checkPrefix(scene.server.requests[1]!, scene.server.requests[2]!)).toBeNull()

    scene.server.enqueue({ text: 'Blue for good.' })
    await runCli(['chat', '-r', id, '-q', 'Sure?', ...flags], scene)
    expect(checkPrefix(scene.server.requests[2]!, scene.server.requests[3]!)).toBeNull()
  })

  it('that do not exist cannot be loaded, and the error says so', async () => {
    const { agent } = await open()
    await expect(
      agent.request('session/load', { sessionId: 'nope', cwd: scene.cwd, mcpServers: [] }),
    ).rejects.toMatchObject({
      code: -32002,
      message: 'There is no stored session "nope". Start one with session/new.',
      data: { sessionId: 'nope' },
    })
  })

  it('have the MCP servers of the editor to themselves, and answer all the same when one does not start', async () => {
    const use = { toolCalls: [{ name: 'tool_call', args: { name: 'mcp__kettle__echo', arguments: { text: 'tea' } } }] }
    const search = { toolCalls: [{ name: 'tool_search', args: { query: 'mcp__kettle__echo' } }] }
    scene.server.enqueue(search, use, { text: 'Hello.' }, use, { text: 'None here.' })
    const { agent, newSession, prompt, updates } = await open({ capabilities: { session: { notices: {} } } })
    const mcpServers: McpServer[] = [
      { name: 'weather', command: 'weather', args: [], env: [] },
      { name: 'kettle', command: process.execPath, args: [MCP_SERVER], env: [] },
    ]
    const { sessionId } = await agent.request('session/new', { cwd: scene.cwd, mcpServers })
    expect(await prompt(sessionId, 'Hi.')).toBe('end_turn')
    expect(agentText(updates)).toBe('Hello.')
    expect(JSON.stringify(scene.server.requests[2]!.body.messages.at(-1))).toContain('You said tea')
    expect(await prompt(await newSession(scene.cwd), 'Hi.')).toBe('end_turn')
    expect(JSON.stringify(scene.server.requests[4]!.body.messages.at(-1))).not.toContain('You said')
  })
})

describe('errors', () => {
  it('of the model are one line, and the session goes on', async () => {
    scene.server.enqueue({ fault: 'status', status: 401 }, { text: 'Better.' })
    const { newSession, prompt, updates } = await open()
    const sessionId = await newSession(scene.cwd)
    const error = await prompt(sessionId, 'Ask.').catch((caught: unknown) => caught)
    expect(error).toMatchObject({ code: -32603, message: expect.stringMatching(/key|401|refused/i) })
    expect((error as Error).message).not.toContain('\n')
    expect(await prompt(sessionId, 'Again.')).toBe('end_turn')
    expect(agentText(updates)).toBe('Better.')
  })

  it('name what has to be set up, and a key set meanwhile is found', async () => {
    editor = await startEditor([], scene)
    const { agent, newSession, prompt, updates } = editor
    await expect(newSession(scene.cwd)).rejects.toMatchObject({
      code: -32000,
      message: expect.stringContaining('No model is set up'),
    })
    await expect(agent.request('authenticate', { methodId: 'hermes-setup' })).rejects.toMatchObject({ code: -32000 })
    await expect(agent.request('authenticate', { methodId: 'other' })).rejects.toMatchObject({ code: -32602 })
    const config = `model:\n  provider: custom\n  default: m\n  base_url: ${scene.server.baseUrl}\n`
    await writeFile(join(scene.home, 'config.yaml'), config)
    withoutTitles(scene.home)
    await agent.request('authenticate', { methodId: 'hermes-setup' })
    scene.server.enqueue({ text: 'Ready.' })
    expect(await prompt(await newSession(scene.cwd), 'Hi.')).toBe('end_turn')
    expect(agentText(updates)).toBe('Ready.')
  })
})
