// What programs are told at every event of the hook files of Claude Code and Codex, recorded from real runs and held to the fields that their
// documentation names: https://code.claude.com/docs/en/hooks, and codex-rs/hooks/schema in github.com/openai/codex.
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { JsonObject } from '@hermes/contracts'
import { startModelServer, temporaryHome } from '@hermes/testkit'
import { expect, it } from 'vitest'
import { openRuntime } from '../open-runtime.js'

/** What every event has, by form, and what those of delegated tasks have. */
const ALWAYS = {
  claude: ['session_id', 'transcript_path', 'cwd', 'hook_event_name', 'permission_mode'],
  codex: ['session_id', 'transcript_path', 'cwd', 'hook_event_name', 'permission_mode', 'model', 'turn_id'],
}
const CHILD = ['agent_id', 'agent_type']
const EVENTS = {
  claude: [
    ...[
      'SessionStart',
      'SessionEnd',
      'UserPromptSubmit',
      'PreToolUse',
      'PermissionRequest',
      'Notification',
      'PostToolUse',
    ],
    ...['PostToolUseFailure', 'SubagentStart', 'SubagentStop', 'Stop', 'StopFailure', 'PreCompact'],
  ],
  codex: [
    ...[
      'SessionStart',
      'UserPromptSubmit',
      'PreToolUse',
      'PermissionRequest',
      'PostToolUse',
      'SubagentStart',
      'SubagentStop',
    ],
    ...['Stop', 'StopFailure', 'PreCompact'],
  ],
}
/** Of one form alone, as the page says in words. */
const CLAUDE_ONLY = ['message', 'notification_type']

/** The fields of each event, as docs/hooks.md has them. */
async function documented(): Promise<ReadonlyMap<string, readonly string[]>> {
  const page = await readFile(new URL('../../../../docs/hooks.md', import.meta.url), 'utf8')
  const cells = page.split('\n').map((line) => line.split('|'))
  return new Map(
    cells
      .filter((row) => row.length === 6)
      .map(([, event = '', fields = '']) => [
        event.replaceAll(/[\s`]/g, ''),
        [...fields.matchAll(/`(\w+)`/g)].map(([, name]) => name!),
      ]),
  )
}

const BASH = { tool_name: 'Bash', tool_input: { command: 'echo hi' } }
/** What some of them hold in the run below when it happens first. */
const HELD: Readonly<Record<string, object>> = {
  SessionStart: { source: 'startup' },
  UserPromptSubmit: { prompt: 'Go.' },
  PreToolUse: BASH,
  PermissionRequest: { tool_name: 'Bash', tool_input: { command: 'rm -rf ./build', timeout: 5_000 } },
  Notification: { notification_type: 'permission_prompt', message: expect.stringContaining('rm -rf ./build') },
  PostToolUse: { ...BASH, tool_response: { stdout: expect.stringContaining('hi'), interrupted: false } },
  PostToolUseFailure: { tool_name: 'Read', error: expect.stringContaining('not-there'), is_interrupt: false },
  SubagentStart: { agent_id: 'root/task-1', agent_type: 'general-purpose' },
  SubagentStop: { agent_id: 'root/task-1', last_assistant_message: 'Looked.', stop_hook_active: false },
  Stop: { last_assistant_message: 'Done.', stop_hook_active: false },
  StopFailure: { error: 'authentication_failed', error_details: expect.stringContaining('No such key.') },
  PreCompact: { trigger: 'manual' },
  SessionEnd: { reason: 'other' },
}

it('is what the documentation of Claude Code and Codex says, at every event that happens here', async () => {
  await using home = await temporaryHome()
  const server = await startModelServer()
  const cwd = join(home.path, 'work')
  await mkdir(join(cwd, '.git'), { recursive: true })
  const file = join(home.path, 'record.sh')
  await writeFile(file, '#!/bin/sh\ntold=$(cat)\nprintf "%s\\n" "$told" >> "$1"\n', { mode: 0o755 })
  for (const [folder, name, events] of [
    ['.claude', 'settings.json', EVENTS.claude],
    ['.codex', 'hooks.json', EVENTS.codex],
  ] as const) {
    const command = `${file} ${join(home.path, folder.slice(1))}`
    const hooks = Object.fromEntries(events.map((event) => [event, [{ hooks: [{ type: 'command', command }] }]]))
    await mkdir(join(cwd, folder))
    await writeFile(join(cwd, folder, name), JSON.stringify({ hooks }))
  }
  const model = { default: 'm', base_url: server.baseUrl, context_length: 200_000 }
  const auxiliary = { title_generation: { enabled: false }, session_summary: { enabled: false } }
  await writeFile(
    join(home.path, 'config.yaml'),
    JSON.stringify({
      model,
      auxiliary,
      terminal: { isolation: 'off' },
      api_max_retries: 1,
      checkpoints: { enabled: false },
    }),
  )
  const place = { home: home.path, userHome: home.path, cwd, tempDir: home.path, user: 'ada' }
  const runtime = await openRuntime({ ...place, env: { PATH: process.env['PATH']! }, trust: true, acceptHooks: true })
  const seen = async (name: string) =>
    (await readFile(join(home.path, name), 'utf8').catch(() => ''))
      .split('\n')
      .flatMap((line) => (line === '' ? [] : [JSON.parse(line) as JsonObject]))
  const events = async (name: string) => new Set((await seen(name)).map((one) => String(one['hook_event_name'])))
  try {
    const { agent, close } = await runtime.createAgent({ platform: 'cli' })
    runtime.policy.listen(agent.sessionId, (id) => void runtime.policy.answer(id, 'deny', 'ada'))
    server.enqueue(
      { toolCalls: [{ name: 'terminal', args: { command: 'echo hi' } }] },
      { toolCalls: [{ name: 'read_file', args: { path: 'not-there' } }] },
      { toolCalls: [{ name: 'terminal', args: { command: 'rm -rf ./build', timeout: 5 } }] },
      { toolCalls: [{ name: 'delegate_task', args: { goal: 'Look.' } }] },
      { toolCalls: [{ name: 'terminal', args: { command: 'echo child' } }] },
      { text: 'Looked.' },
      { text: 'Done.' },
    )
    expect(await agent.run('Go.').result).toMatchObject({ status: 'completed' })
    // Long, so that there is something to summarise.
    server.enqueue(...Array.from({ length: 2 }, () => ({ text: 'It goes on and on. '.repeat(2_000) })))
    for (const _ of [1, 2]) await agent.run('Tell me more. '.repeat(400)).result
    server.setHandler(() => ({ text: 'All that was said.' }))
    expect(await agent.compact()).toMatchObject({ type: 'compacted' })
    server.setHandler(() => ({ fault: 'status', status: 401, body: { error: { message: 'No such key.' } } }))
    expect(await agent.run('Again.').result).toMatchObject({ status: 'failed' })
    await close()
    await expect.poll(() => events('claude')).toEqual(new Set(EVENTS.claude))
    await expect.poll(() => events('codex')).toEqual(new Set(EVENTS.codex))
    const fields = await documented()
    for (const name of ['claude', 'codex'] as const)
      for (const one of await seen(name)) {
        const event = String(one['hook_event_name'])
        const own = fields.get(event)!.filter((field) => name === 'claude' || !CLAUDE_ONLY.includes(field))
        const isChild = String(one['agent_id'] ?? '').startsWith('root/')
        const wanted = [...ALWAYS[name], ...own, ...(isChild ? CHILD : [])]
        expect(Object.keys(one).sort(), `${name} ${event}`).toEqual(wanted.sort())
      }
    for (const name of ['claude', 'codex']) {
      const all = await seen(name)
      for (const event of await events(name)) {
        const first = all.find((one) => one['hook_event_name'] === event)
        expect(first, `${name} ${event}`).toMatchObject(HELD[event]!)
      }
      const commands = all.filter((one) => one['hook_event_name'] === 'PreToolUse' && one['tool_name'] === 'Bash')
      expect(commands.map((one) => [(one['tool_input'] as JsonObject)['command'], one['agent_id']])).toEqual([
        ['echo hi', undefined],
        ['rm -rf ./build', undefined],
        ['echo child', 'root/task-1'],
      ])
      const starts = all.filter((one) => one['hook_event_name'] === 'SessionStart').map((one) => one['source'])
      expect(starts).toEqual(['startup', 'compact'])
    }
  } finally {
    await runtime.close()
    await server.close()
  }
}, 60_000)
