import { describe, expect, it } from 'vitest'
import { type HookRun, isUndecided, readAnswer } from './answer.js'
import { type HookDeclaration, readConfigHooks, readHookFile } from './declarations.js'
import { EVENTS, type HookForm } from './event-table.js'

const hook = (form: HookForm, event: string): HookDeclaration => ({
  ...{ form, event, row: EVENTS[form][event]!, matcher: null, only: null, command: 'check.sh', timeoutMs: 1_000 },
  ...{ onFailure: 'default', isAsync: false, source: 'x', project: null },
})
const ended = (exitCode: number | null, stdout: string | object = '', stderr = ''): HookRun => ({
  ...{ exitCode, stderr, timedOut: false },
  stdout: typeof stdout === 'string' ? stdout : JSON.stringify(stdout),
})
const specific = (hookEventName: string, more: object) => ({ hookSpecificOutput: { hookEventName, ...more } })

/** An example of each event, as the documentation of its program shows what a hook answers. */
describe('what a hook answers', () => {
  it.each<[HookForm, string, HookRun, object]>([
    ['claude', 'PreToolUse', ended(2, '', 'Destructive command blocked\n'), { block: 'Destructive command blocked' }],
    [
      'claude',
      'PreToolUse',
      ended(0, specific('PreToolUse', { permissionDecision: 'deny', permissionDecisionReason: 'no' })),
      { block: 'no' },
    ],
    [
      'claude',
      'PreToolUse',
      ended(0, specific('PreToolUse', { permissionDecision: 'ask', permissionDecisionReason: 'sure?' })),
      { ask: 'sure?' },
    ],
    ['claude', 'PreToolUse', ended(0, specific('PreToolUse', { permissionDecision: 'allow' })), {}],
    ['claude', 'PreToolUse', ended(0, { decision: 'approve', reason: 'fine' }), {}],
    ['claude', 'PreToolUse', ended(0, { decision: 'block', reason: 'old form' }), { block: 'old form' }],
    [
      'claude',
      'PreToolUse',
      ended(0, specific('PreToolUse', { permissionDecision: 'allow', updatedInput: { command: 'ls' } })),
      { updatedInput: { command: 'ls' } },
    ],
    ['claude', 'PreToolUse', ended(0, specific('Stop', { permissionDecision: 'deny' })), {}],
    [
      'claude',
      'PostToolUse',
      ended(0, {
        decision: 'block',
        reason: 'lint failed',
        ...specific('PostToolUse', { additionalContext: 'see log' }),
      }),
      { block: 'lint failed', context: 'see log' },
    ],
    [
      'claude',
      'PostToolUse',
      ended(0, specific('PostToolUse', { updatedMCPToolOutput: 'short' })),
      { replace: 'short' },
    ],
    ['claude', 'PostToolUse', ended(2, '', 'format it'), { block: 'format it' }],
    ['claude', 'UserPromptSubmit', ended(0, 'It is Monday.'), { context: 'It is Monday.' }],
    [
      'claude',
      'UserPromptSubmit',
      ended(0, { decision: 'block', reason: 'a key is in it' }),
      { block: 'a key is in it' },
    ],
    ['claude', 'SessionStart', ended(0, 'Branch: main'), { context: 'Branch: main' }],
    ['claude', 'Stop', ended(0, { decision: 'block', reason: 'run the tests' }), { block: 'run the tests' }],
    ['claude', 'Stop', ended(0, { continue: false, stopReason: 'enough' }), { stop: 'enough' }],
    ['claude', 'SubagentStop', ended(2, '', 'not done'), { block: 'not done' }],
    [
      'claude',
      'PermissionRequest',
      ended(0, specific('PermissionRequest', { decision: { behavior: 'deny', message: 'never' } })),
      { block: 'never' },
    ],
    ['claude', 'PermissionRequest', ended(0, specific('PermissionRequest', { decision: { behavior: 'allow' } })), {}],
    ['claude', 'Notification', ended(0, 'shown'), {}],
    ['claude', 'Notification', ended(0, { decision: 'block', systemMessage: 'seen' }), { notice: 'seen' }],
    ['hermes', 'pre_approval_request', ended(0, { action: 'block', message: 'no' }), {}],
    ['claude', 'PreCompact', ended(0, { systemMessage: 'compacting' }), { notice: 'compacting' }],
    ['claude', 'PreCompact', ended(0, { decision: 'block', reason: 'not now' }), { block: 'not now' }],
    ['claude', 'PreCompact', ended(2, '', 'not now'), { block: 'not now' }],
    ['claude', 'PreToolUse', ended(2, { reason: 'not this' }, 'no'), { block: 'no' }],
    ['claude', 'PostToolUseFailure', ended(2, '', 'install jq first'), { block: 'install jq first' }],
    [
      'claude',
      'PostToolUseFailure',
      ended(0, specific('PostToolUseFailure', { additionalContext: 'the port is taken' })),
      { context: 'the port is taken' },
    ],
    ['claude', 'StopFailure', ended(0, { decision: 'block', reason: 'again' }), {}],
    [
      'claude',
      'SubagentStart',
      ended(0, specific('SubagentStart', { additionalContext: 'Follow the guidelines.' })),
      { context: 'Follow the guidelines.' },
    ],
    ['claude', 'SessionEnd', ended(0, 'bye'), {}],
    [
      'codex',
      'PreToolUse',
      ended(0, specific('PreToolUse', { permissionDecision: 'deny', permissionDecisionReason: 'no' })),
      { block: 'no' },
    ],
    ['codex', 'PostToolUse', ended(0, { continue: false, stopReason: 'halt' }), { stop: 'halt' }],
    [
      'codex',
      'UserPromptSubmit',
      ended(0, specific('UserPromptSubmit', { additionalContext: 'style: short' })),
      { context: 'style: short' },
    ],
    [
      'codex',
      'PermissionRequest',
      ended(0, specific('PermissionRequest', { decision: { behavior: 'deny', message: 'Blocked by policy.' } })),
      { block: 'Blocked by policy.' },
    ],
    ['codex', 'PermissionRequest', ended(0, specific('PermissionRequest', { decision: { behavior: 'allow' } })), {}],
    ['codex', 'SessionStart', ended(0, 'Load the conventions.'), { context: 'Load the conventions.' }],
    [
      'codex',
      'SessionStart',
      ended(0, specific('SessionStart', { additionalContext: 'Load the conventions.' })),
      { context: 'Load the conventions.' },
    ],
    ['codex', 'PreCompact', ended(0, { continue: false, stopReason: 'pinned' }), { stop: 'pinned' }],
    [
      'codex',
      'SubagentStart',
      ended(0, specific('SubagentStart', { additionalContext: 'Read only.' })),
      { context: 'Read only.' },
    ],
    ['codex', 'SubagentStop', ended(0, { decision: 'block', reason: 'one more pass' }), { block: 'one more pass' }],
    ['codex', 'StopFailure', ended(0, { systemMessage: 'try later' }), { notice: 'try later' }],
    ['hermes', 'pre_tool_call', ended(2, { reason: 'not this' }, 'no'), { block: 'not this' }],
    ['codex', 'Stop', ended(2, '', 'write the changelog'), { block: 'write the changelog' }],
    ['hermes', 'pre_tool_call', ended(0, { action: 'block', message: 'no' }), { block: 'no' }],
    ['hermes', 'pre_tool_call', ended(0, { decision: 'block', reason: 'no' }), { block: 'no' }],
    ['hermes', 'pre_tool_call', ended(0, { action: 'approve', message: 'look' }), { ask: 'look' }],
    ['hermes', 'pre_tool_call', ended(0, { action: 'modify', args: { timeout: 5 } }), { updatedInput: { timeout: 5 } }],
    [
      'hermes',
      'pre_tool_call',
      ended(0, { decision: 'modify', tool_input: { timeout: 5 } }),
      { updatedInput: { timeout: 5 } },
    ],
    ['hermes', 'pre_llm_call', ended(0, { context: 'It rains.' }), { context: 'It rains.' }],
    ['hermes', 'pre_verify', ended(0, { action: 'continue', message: 'check again' }), { block: 'check again' }],
    ['hermes', 'transform_tool_result', ended(0, { action: 'replace', text: 'short' }), { replace: 'short' }],
    ['hermes', 'on_session_start', ended(0, 'whatever'), {}],
  ])('%s %s %#', (form, event, run, answer) => {
    const { form: _, ...read } = readAnswer(hook(form, event), run)
    expect(read).toEqual(answer)
  })

  it('a failure is one, and says nothing else', () => {
    expect(readAnswer(hook('claude', 'Stop'), ended(1, '{"decision":"block"}', 'boom\n'))).toEqual({
      failure: 'The hook check.sh ended with exit code 1: boom',
    })
    expect(readAnswer(hook('hermes', 'post_tool_call'), ended(2, '', 'x'))).toMatchObject({
      failure: expect.any(String),
    })
    for (const one of [
      hook('claude', 'Notification'),
      hook('claude', 'SessionEnd'),
      hook('claude', 'StopFailure'),
      hook('claude', 'SubagentStart'),
      hook('codex', 'SessionStart'),
      hook('codex', 'PreCompact'),
    ])
      expect(readAnswer(one, ended(2, '{"decision":"block"}', 'x')), one.event).toEqual({
        failure: 'The hook check.sh ended with exit code 2: x',
      })
    expect(readAnswer(hook('claude', 'Stop'), ended(0, '{"decision":'))).toEqual({
      failure: 'The hook check.sh answered with broken JSON.',
    })
    expect(readAnswer(hook('claude', 'Stop'), { ...ended(null), timedOut: true })).toEqual({
      failure: 'The hook check.sh took too long.',
    })
  })

  it('is unknown where the program never came to an answer', () => {
    const undecided = [ended(127), ended(126), ended(null), { ...ended(0), timedOut: true }, ended(0, '{"x')]
    expect(undecided.map(isUndecided)).toEqual([true, true, true, true, true])
    expect([ended(0), ended(1), ended(2), ended(0, 'text')].map(isUndecided)).toEqual([false, false, false, false])
  })
})

describe('hooks in files', () => {
  const claude = { form: 'claude', source: '.claude/settings.json', project: '/p' } as const

  it('are read with matcher, time and what a failure means', () => {
    const { hooks, outbound, problems } = readConfigHooks(
      {
        pre_tool_call: [{ matcher: 'terminal|patch', command: '~/guard.sh --strict', timeout: 5, fail_closed: true }],
        outbound: [{ name: 'ops', url: 'https://ops.example/hook', events: ['on_session_end'], secret: 'k' }],
      },
      'config.yaml',
    )
    expect(problems).toEqual([])
    expect(hooks).toMatchObject([
      { event: 'pre_tool_call', timeoutMs: 5_000, onFailure: 'strict', command: '~/guard.sh --strict' },
    ])
    expect(hooks[0]!.matcher!.test('terminal')).toBe(true)
    expect(hooks[0]!.matcher!.test('terminals')).toBe(false)
    expect(outbound).toMatchObject([{ name: 'ops', secret: 'k', timeoutMs: 10_000 }])
  })

  it('of Claude Code: groups with a matcher, a regular expression where it is no list of names', () => {
    const text = JSON.stringify({
      permissions: {},
      hooks: {
        PreToolUse: [
          { matcher: 'mcp__.*__write', hooks: [{ type: 'command', command: 'a', if: 'Bash(git *)', async: true }] },
        ],
      },
    })
    const { hooks } = readHookFile(text, claude)
    expect(hooks).toMatchObject([{ only: 'Bash(git *)', isAsync: true, timeoutMs: 30_000, project: '/p' }])
    expect(hooks[0]!.matcher!.test('mcp__fs__write')).toBe(true)
  })

  it.each([
    [{ pre_tol_call: [] }, 'c: hooks.pre_tol_call is no known event; it has no effect. Did you mean pre_tool_call?'],
    [{ pre_tool_call: { command: 'x' } }, 'c: hooks.pre_tool_call is no list; it has no effect.'],
    [{ pre_tool_call: ['x'] }, 'c: hooks.pre_tool_call[0] is no map with a command; it has no effect.'],
    [{ pre_tool_call: [{ command: ' ' }] }, 'c: hooks.pre_tool_call[0] has no command; it has no effect.'],
    [
      { pre_tool_call: [{ command: 'x', matcher: '(' }] },
      'c: hooks.pre_tool_call[0] has a matcher that is no regular expression: (; it has no effect.',
    ],
    [
      { pre_tool_call: [{ command: 'x', timeout: 'soon' }] },
      'c: hooks.pre_tool_call[0] has a timeout that is no number of seconds; it has no effect.',
    ],
    [
      { transform_llm_output: [] },
      'c: hooks.transform_llm_output has no effect: an answer is shown while it is written, so nothing can change it before.',
    ],
    [
      { outbound: [{ url: 'ftp://x', events: ['*'] }] },
      'c: hooks.outbound[0] has no http or https url; it has no effect.',
    ],
    [
      { outbound: [{ url: 'https://x', events: ['on_sesion_end'] }] },
      'c: hooks.outbound[0] names "on_sesion_end", which is no event (did you mean on_session_end?); it has no effect.',
    ],
    [[], 'c: hooks is no map of events; it has no effect.'],
  ])('%j is one line', (section, line) => {
    expect(readConfigHooks(section as never, 'c')).toMatchObject({ hooks: [], problems: [line] })
  })

  it('with a matcher for what never happens here are named; one that fits something is kept', () => {
    const one = (matcher: string) => [{ matcher, hooks: [{ type: 'command', command: 'x' }] }]
    const events = {
      ...{ SessionEnd: one('clear'), SessionStart: one('clear'), StopFailure: one('rate_limit|overloaded') },
      ...{ PreCompact: one('auto'), SubagentStop: one('reviewer') },
    }
    const { hooks, problems } = readHookFile(JSON.stringify({ hooks: events }), claude)
    expect(hooks.map(({ event }) => event)).toEqual(['StopFailure', 'PreCompact'])
    expect(problems).toEqual([
      '.claude/settings.json: hooks.SessionEnd[0] has a matcher for what never happens here: clear. It can be other; it has no effect.',
      '.claude/settings.json: hooks.SessionStart[0] has a matcher for what never happens here: clear. It can be startup, resume, compact; it has no effect.',
      '.claude/settings.json: hooks.SubagentStop[0] has a matcher for what never happens here: reviewer. It can be general-purpose; it has no effect.',
    ])
  })

  it('run with arguments and a shell, object to every failure where they say so, and name what else they say', () => {
    const hooks = [
      { command: 'node', args: ['${CLAUDE_PROJECT_DIR}/a b.js', 'x"$HOME'] },
      { command: '[[ a ]]', shell: 'bash', onFailure: 'block', once: true, statusMessage: 'looks' },
      { command: 'dir', shell: 'powershell' },
      { command: 'a', onFailure: 'maybe', args: 'b' },
    ]
    const read = readHookFile(JSON.stringify({ hooks: { PreToolUse: [{ hooks }] } }), claude)
    expect(read.hooks).toMatchObject([
      { command: 'node "${CLAUDE_PROJECT_DIR}/a b.js" "x\\"\\$HOME"' },
      { command: '[[ a ]]', shell: 'bash', onFailure: 'strict' },
    ])
    expect(read.problems).toEqual([
      '.claude/settings.json: once of hooks.PreToolUse[1] has no effect; the hook runs all the same.',
      '.claude/settings.json: hooks.PreToolUse[2] wants the shell "powershell", and sh and bash run here; it has no effect.',
      '.claude/settings.json: hooks.PreToolUse[3] has args that are no list of texts; it has no effect.',
    ])
  })

  it('name every event and type without effect, and hold nothing when they are damaged', () => {
    const events = { PostCompact: [], Setup: [], Stop: [{ hooks: [{ type: 'prompt', prompt: 'x' }] }] }
    expect(readHookFile(JSON.stringify({ hooks: events }), claude).problems).toEqual([
      '.claude/settings.json: hooks.PostCompact has no effect: no hook runs there.',
      '.claude/settings.json: hooks.Setup has no effect: Hermes has nothing that happens then.',
      '.claude/settings.json: hooks.Stop[0] is of the type "prompt", and only commands run here; it has no effect.',
    ])
    expect(readHookFile('{', claude).problems).toHaveLength(1)
    expect(
      readHookFile('{"disableAllHooks":true,"hooks":{"Stop":[{"hooks":[{"command":"x"}]}]}}', claude).hooks,
    ).toEqual([])
  })
})
