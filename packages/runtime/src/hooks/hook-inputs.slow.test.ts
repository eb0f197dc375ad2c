// What programs are told at every event of the hook files of Claude Code and Codex, recorded from real runs and held to the fields that their
// documentation names: https://code.claude.com/docs/en/hooks, and codex-rs/hooks/schema in github.com/openai/codex.
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { JsonObject } from '@hermes/contracts'
import { startModelServer, temporaryHome } from '@hermes/testkit'
import { expect, it } from 'vitest'
import { openRuntime } from '../open-runtime.js'

const WHERE = ['session_id', 'transcript_path', 'cwd', 'hook_event_name']
const TURN = [...WHERE, 'permission_mode']
const CALL = [...TURN, 'tool_name', 'tool_input']
const CHILD = ['agent_id', 'agent_type']
const STOP = ['stop_hook_active', 'last_assistant_message']

/** The fields of each event. */
const CLAUDE: Readonly<Record<string, readonly string[]>> = {
  SessionStart: [...WHERE, 'source'],
  UserPromptSubmit: [...TURN, 'prompt'],
  PreToolUse: [...CALL, 'tool_use_id'],
  PermissionRequest: CALL,
  Notification: [...WHERE, 'message', 'notification_type'],
  PostToolUse: [...CALL, 'tool_use_id', 'tool_response'],
  PostToolUseFailure: [...CALL, 'tool_use_id', 'error', 'is_interrupt'],
  SubagentStart: [...WHERE, ...CHILD],
  SubagentStop: [...TURN, ...STOP, ...CHILD, 'agent_transcript_path'],
  Stop: [...TURN, ...STOP],
  StopFailure: [...WHERE, 'error', 'error_details', 'last_assistant_message'],
  PreCompact: [...WHERE, 'trigger', 'custom_instructions'],
  SessionEnd: [...WHERE, 'reason'],
}
const OF_CODEX = ['model', 'turn_id']
const CODEX: Readonly<Record<string, readonly string[]>> = {
  SessionStart: [...TURN, 'model', 'source'],
  UserPromptSubmit: [...TURN, ...OF_CODEX, 'prompt'],
  PreToolUse: [...CALL, ...OF_CODEX, 'tool_use_id'],
  PermissionRequest: [...CALL, ...OF_CODEX],
  PostToolUse: [...CALL, ...OF_CODEX, 'tool_use_id', 'tool_response'],
  SubagentStart: [...TURN, ...OF_CODEX, ...CHILD],
  SubagentStop: [...TURN, ...OF_CODEX, ...STOP, ...CHILD, 'agent_transcript_path'],
  Stop: [...TURN, ...OF_CODEX, ...STOP],
  StopFailure: [...TURN, ...OF_CODEX, 'error', 'error_details', 'last_assistant_message'],
  PreCompact: [...WHERE, ...OF_CODEX, 'trigger'],
}

it('is what the documentation of Claude Code and Codex says, at every event that happens here', async () => {
  await using home = await temporaryHome()
  const server = await startModelServer()
  const cwd = join(home.path, 'work')
  await mkdir(join(cwd, '.git'), { recursive: true })
  const file = join(home.path, 'record.sh')
  await writeFile(file, '#!/bin/sh\ntold=$(cat)\nprintf "%s\\n" "$told" >> "$1"\n', { mode: 0o755 })
  for (const [folder, name, events] of [
    ['.claude', 'settings.json', CLAUDE],
    ['.codex', 'hooks.json', CODEX],
  ] as const) {
    const command = `${file} ${join(home.path, folder.slice(1))}`
    const hooks = Object.fromEntries(
      Object.keys(events).map((event) => [event, [{ hooks: [{ type: 'command', command }] }]]),
    )
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
      { toolCalls: [{ name: 'terminal', args: { command: 'rm -rf ./build' } }] },
      { toolCalls: [{ name: 'delegate_task', args: { goal: 'Look.' } }] },
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
    await expect.poll(() => events('claude')).toEqual(new Set(Object.keys(CLAUDE)))
    await expect.poll(() => events('codex')).toEqual(new Set(Object.keys(CODEX)))
    for (const [name, wanted] of [
      ['claude', CLAUDE],
      ['codex', CODEX],
    ] as const)
      for (const one of await seen(name)) {
        const event = String(one['hook_event_name'])
        const missing = wanted[event]!.filter((field) => one[field] === undefined)
        expect(missing, `${name} ${event} ${JSON.stringify(one)}`).toEqual([])
      }
    const last = (await seen('codex')).findLast((one) => one['hook_event_name'] === 'StopFailure')
    expect(last).toMatchObject({ error: 'authentication_failed', error_details: expect.any(String) })
  } finally {
    await runtime.close()
    await server.close()
  }
}, 60_000)
