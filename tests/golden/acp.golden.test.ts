// Recorded sessions of the editor server: what goes to the model server, and every message that an editor gets.
import { existsSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'vitest'
import { type Editor, type EditorBehaviour, startEditor } from '../support/acp.js'
import { call, ENV, goldenSessions, isChild, newest, type Stage, writtenCalls } from './stage.js'

const session = goldenSessions('acp')
/** The one that has the list of commands whole, so that a new command changes one file. */
const LISTS_COMMANDS = 'thoughts-edits-and-the-plan-are-shown'

/** A session with an editor of its own; what the server wrote is recorded line by line. */
function edited(
  name: string,
  play: (stage: Stage, editor: Editor) => Promise<void>,
  { settings = {}, ...behaviour }: EditorBehaviour & { readonly settings?: object } = {},
): void {
  session(name, async (stage) => {
    await stage.config(settings)
    const { home, cwd } = stage
    const flags = ['--base-url', stage.server.baseUrl, '-m', 'test']
    const editor = await startEditor(flags, { home, cwd, env: ENV }, behaviour)
    try {
      await play(stage, editor)
    } finally {
      const exitCode = await editor.leave()
      const lines = editor.process.wire.flatMap(({ from, line }) => (from === 'agent' ? [line] : []))
      const started = lines.flatMap((line) => JSON.parse(line).params?.update ?? [])
      const commands = new Set(started.flatMap(({ name, toolCallId }) => (name === 'terminal' ? [toolCallId] : [])))
      stage.record(
        'messages to the editor',
        lines
          .filter((line) => !isOutputSeen(line, commands))
          .map((line) =>
            name === LISTS_COMMANDS ? line : line.replace(/(?<="availableCommands":)\[.*\]/, '"<commands>"'),
          ),
      )
      stage.record('stderr and exit code', [editor.process.stderr().trimEnd(), String(exitCode)])
    }
  })
}

/** Whether a line of a command's output was seen before its end depends on the clock. */
function isOutputSeen(line: string, commands: ReadonlySet<string>): boolean {
  const { update } = JSON.parse(line).params ?? {}
  return update?.sessionUpdate === 'tool_call_update' && !update.status && commands.has(update.toolCallId)
}

const chosen = (optionId: string) => async () => ({ outcome: { outcome: 'selected', optionId } }) as const

edited('thoughts-edits-and-the-plan-are-shown', async ({ cwd, script }, { newSession, prompt }) => {
  script(
    { reasoning: 'First the file.', text: 'I begin.', ...call('write_file', { path: 'a.txt', content: 'one\ntwo\n' }) },
    call('todo_write', { todos: [{ id: '1', content: 'tidy up', status: 'in_progress' }] }),
    call('patch', { path: 'a.txt', old_string: 'two', new_string: 'three' }),
    call('read_file', { path: 'a.txt', offset: 2 }),
    call('terminal', { command: 'echo out; exit 3' }),
    call('search_files', { pattern: 'one' }),
    { text: 'Done.' },
  )
  await prompt(await newSession(cwd), 'Tidy up.')
})

edited(
  'an-approval-is-given-once',
  async ({ cwd, put, script }, { newSession, prompt }) => {
    await put('old/a.txt', 'x')
    script(call('terminal', { command: 'rm -rf old' }), { text: 'Gone.' })
    await prompt(await newSession(cwd), 'Delete it.')
  },
  { permission: chosen('once') },
)

edited(
  'an-approval-is-refused',
  async ({ cwd, put, script }, { newSession, prompt }) => {
    await put('old/a.txt', 'x')
    script(call('terminal', { command: 'rm -rf old' }), { text: 'As you wish.' })
    await prompt(await newSession(cwd), 'Delete it.')
  },
  { permission: chosen('deny') },
)

edited(
  'an-approval-for-always-asks-no-more',
  async ({ cwd, put, script, hermes }, { newSession, prompt }) => {
    await put('old/a.txt', 'x')
    const remove = call('terminal', { command: 'rm -rf old' })
    script(remove, { text: 'Gone.' }, remove, { text: 'Gone again.' })
    await prompt(await newSession(cwd), 'Delete it.')
    await prompt(await newSession(cwd), 'Delete it in another session.')
    await hermes('permissions', 'list')
  },
  { permission: chosen('always') },
)

edited(
  'an-approval-that-nobody-answers-parks-the-run',
  async ({ cwd, put, script, hermes }, { newSession, prompt, agent }) => {
    await put('old/a.txt', 'x')
    script(call('terminal', { command: 'rm -rf old' }), { text: 'Gone.' })
    const sessionId = await newSession(cwd)
    await prompt(sessionId, 'Delete it.')
    const { stdout } = await hermes('approvals', 'list', '--json')
    await hermes('approvals', 'answer', (JSON.parse(stdout) as { id: string }).id, 'once')
    await agent.request('session/prompt', { sessionId, prompt: [{ type: 'text', text: 'Try again.' }] })
  },
  { settings: { approvals: { timeout: 1 } }, permission: () => new Promise(() => undefined) },
)

edited('a-plan-is-made-in-plan-mode-and-carried-out', async ({ cwd, script }, { agent, prompt }) => {
  const write = call('write_file', { path: 'a.txt', content: 'x\n' })
  script(write, { text: '1. Write a.txt.\n2. Read it.' }, write, { text: 'Done.' })
  const { sessionId } = await agent.request('session/new', { cwd, mcpServers: [] })
  await agent.request('session/set_mode', { sessionId, modeId: 'plan' })
  await prompt(sessionId, 'Write it.')
  await agent.request('session/set_mode', { sessionId, modeId: 'work' })
  await prompt(sessionId, 'Go.')
})

edited('a-prompt-is-cancelled-and-the-session-goes-on', async ({ cwd, script }, { agent, newSession, prompt }) => {
  script(call('terminal', { command: 'touch begun; sleep 600' }), { text: 'Here again.' })
  const sessionId = await newSession(cwd)
  const cancelled = prompt(sessionId, 'Wait.')
  await expect.poll(() => existsSync(join(cwd, 'begun')), { interval: 20, timeout: 15_000 }).toBe(true)
  await agent.notify('session/cancel', { sessionId })
  await cancelled
  await prompt(sessionId, 'Go on.')
})

edited('a-stored-session-is-loaded-and-goes-on', async ({ put, cwd, script, chat, hermes }, { agent, prompt }) => {
  await put('notes.txt', 'blue\n')
  script({ reasoning: 'Look.', ...call('read_file', { path: 'notes.txt' }) }, { text: 'It says blue.' })
  await chat('-q', 'What does it say?')
  const { stdout } = await hermes('sessions', 'list', '--json')
  const { id: sessionId } = JSON.parse(stdout) as { id: string }
  await agent.request('session/load', { sessionId, cwd, mcpServers: [] })
  script({ text: 'Still blue.' })
  await prompt(sessionId, 'And now?')
})

edited(
  'a-question-is-answered-in-a-form',
  async ({ cwd, script }, { newSession, prompt }) => {
    script(call('clarify', { question: 'Tabs?', choices: ['tabs', 'spaces'] }), { text: 'Spaces then.' })
    await prompt(await newSession(cwd), 'Format it.')
  },
  {
    capabilities: { elicitation: { form: {} } },
    elicitation: () => ({ action: 'accept', content: { choice: 'spaces' } }),
  },
)

edited('a-child-asks-for-approval', async ({ cwd, put, answer }, { newSession, prompt }) => {
  await put('apples/a.txt', 'x')
  answer((request) => {
    const isAfterTool = request.body.messages.at(-1)!.role === 'tool'
    if (isChild(request)) return isAfterTool ? { text: 'Gone.' } : call('terminal', { command: 'rm -rf apples' })
    return isAfterTool ? { text: 'Done.' } : call('delegate_task', { goal: 'Remove the apples.' })
  })
  await prompt(await newSession(cwd), 'Have them deleted.')
})

edited('a-background-result-comes-by-itself', async ({ home, cwd, answer }, { newSession, prompt, process }) => {
  const answered = Promise.withResolvers<void>()
  answer(async (request) => {
    // It ends between the prompts, so that neither counts what it took.
    if (isChild(request)) await answered.promise
    if (isChild(request)) return { text: 'Three apples.' }
    if (newest(request).includes('Three apples')) return { text: 'I heard: three.' }
    if (newest(request).includes('Begin.')) return call('delegate_task', { goal: 'Count.', background: true })
    return { text: request.body.messages.at(-1)!.role === 'tool' ? 'It runs.' : 'Yes.' }
  })
  const sessionId = await newSession(cwd)
  await prompt(sessionId, 'Begin.')
  answered.resolve()
  const isShown = () => process.wire.some(({ line }) => line.includes('I heard: three.'))
  await expect.poll(isShown, { interval: 20, timeout: 15_000 }).toBe(true)
  await expect.poll(() => writtenCalls(home), { interval: 20, timeout: 15_000 }).toBe(4)
  await prompt(sessionId, 'And?')
})

edited('a-failing-model-is-asked-again-and-then-an-error', async ({ cwd, script }, { newSession, prompt }) => {
  script({ fault: 'status', status: 503, retryAfterSeconds: 1 }, { text: 'At last.' }, { fault: 'status', status: 401 })
  const sessionId = await newSession(cwd)
  await prompt(sessionId, 'Ask.')
  await prompt(sessionId, 'Ask again.').catch(() => undefined)
})

edited('links-and-embedded-texts-are-attached', async ({ cwd, script }, { agent, newSession }) => {
  await writeFile(join(cwd, 'a b.txt'), 'one\nlinked words\nthree\n')
  await mkdir(join(cwd, 'src'))
  script({ text: 'Seen.' }, { text: 'Heard.' })
  const sessionId = await newSession(cwd)
  await agent.request('session/prompt', {
    sessionId,
    prompt: [
      { type: 'text', text: 'Look at these.' },
      { type: 'resource_link', uri: `file://${cwd}/a%20b.txt#L2`, name: 'a b.txt' },
      { type: 'resource_link', uri: 'https://example.com/page', name: 'a page' },
      { type: 'resource', resource: { uri: 'file:///x/c.txt', text: 'embedded words' } },
      { type: 'image', mimeType: 'image/png', data: 'iVBORw0KGgo=' },
    ],
  })
  const sound = { type: 'audio', mimeType: 'audio/wav', data: 'AAAA' } as const
  await agent.request('session/prompt', { sessionId, prompt: [sound] })
})
