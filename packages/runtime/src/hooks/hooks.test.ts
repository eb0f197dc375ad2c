import { createHmac } from 'node:crypto'
import { existsSync } from 'node:fs'
import { chmod, mkdir, readFile, realpath, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { dirname, join } from 'node:path'
import { silentLogger } from '@hermes/contracts'
import { type ModelServer, startModelServer, type TemporaryHome, temporaryHome } from '@hermes/testkit'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openRuntime } from '../open-runtime.js'
import type { Runtime, RuntimeOptions } from '../runtime.js'

// Real scripts at the points of real runs.

let home: TemporaryHome
let place: Pick<RuntimeOptions, 'home' | 'userHome' | 'cwd' | 'tempDir' | 'user'>
let server: ModelServer
let runtime: Runtime | null = null

beforeEach(async () => {
  home = await temporaryHome()
  const path = await realpath(home.path)
  place = { home: join(path, '.hermes'), userHome: path, cwd: join(path, 'work'), tempDir: path, user: 'ada' }
  for (const folder of [join(place.cwd, '.git'), place.home]) await mkdir(folder, { recursive: true })
  server = await startModelServer()
})
afterEach(async () => {
  await runtime?.close()
  runtime = null
  await server.close()
  await home.remove()
})

async function script(path: string, text: string): Promise<string> {
  const file = join(place.userHome, path)
  await mkdir(dirname(file), { recursive: true })
  await writeFile(file, `#!/bin/sh\n${text}\n`)
  await chmod(file, 0o755)
  return file
}

async function open(config: object, more: Partial<RuntimeOptions> = {}): Promise<Runtime> {
  const model = { default: 'm', base_url: server.baseUrl, context_length: 200_000 }
  await writeFile(join(place.home, 'config.yaml'), JSON.stringify({ model, ...config }))
  const env = { PATH: process.env['PATH']!, SECRET_TOKEN: 'hidden' }
  runtime = await openRuntime({ ...place, env, yolo: true, ...more })
  return runtime
}

type Call = readonly [tool: string, args: object]

/** Runs a message where the model makes these calls; what came of it, and what the person was told. */
async function say(opened: Runtime, text: string, ...calls: readonly Call[]) {
  for (const [name, args] of calls) server.enqueue({ toolCalls: [{ name, args }] })
  server.enqueue({ text: 'Done.' })
  const { agent } = await opened.createAgent({ platform: 'cli' })
  const run = agent.run(text)
  const notices: string[] = []
  for await (const event of run) if (event.type === 'notice') notices.push(event.text)
  const messages = server.requests.at(-1)?.body.messages ?? []
  return { result: await run.result, notices, last: JSON.stringify(messages.at(-1)), all: JSON.stringify(messages) }
}

const guard = (event: string, command: string, more: object = {}) => ({ hooks: { [event]: [{ command, ...more }] } })
const touch: Call = ['terminal', { command: 'touch made' }]
const accepting = { acceptHooks: true }

describe('a hook of config.yaml', () => {
  it('runs after a person agreed to it, and waits again once its script is another one', async () => {
    const file = await script('guard.sh', 'echo "no touching" >&2; exit 2')
    const opened = await open(guard('pre_tool_call', file))
    const before = await say(opened, 'Go.', touch)
    expect(before.notices).toContain('1 hook of this folder waits for your consent: hermes hooks accept')
    expect(before.last).not.toContain('no touching')
    expect(await opened.hooks.agree(place.cwd)).toHaveLength(1)
    expect((await say(opened, 'Go.', touch)).last).toContain('no touching')
    await script('guard.sh', 'exit 0')
    const changed = await say(opened, 'Go.', touch)
    expect(changed.last).toContain('has changed since the user agreed to it')
    expect((await opened.hooks.list(place.cwd)).hooks).toMatchObject([{ consent: 'changed' }])
  })

  it('is told the event as JSON, without keys in its environment', async () => {
    place = { ...place, home: join(place.home, 'profiles', 'work') }
    await mkdir(place.home, { recursive: true })
    const file = await script('tell.sh', `cat > "${place.userHome}/told.json"; env > "${place.userHome}/env"`)
    await say(await open(guard('pre_tool_call', file, { matcher: 'terminal' }), accepting), 'Go.', touch)
    expect(JSON.parse(await readFile(join(place.userHome, 'told.json'), 'utf8'))).toMatchObject({
      ...{
        hook_event_name: 'pre_tool_call',
        tool_name: 'terminal',
        tool_input: { command: 'touch made' },
        ...{ cwd: place.cwd, profile: 'work' },
      },
      extra: { platform: 'cli', model: 'm' },
    })
    expect(await readFile(join(place.userHome, 'env'), 'utf8')).not.toContain('hidden')
  })

  it('is told of answers while they come, and keeps commands and auxiliary calls from happening', async () => {
    const teller = await script('tell.sh', `cat >> "${place.userHome}/told"; echo >> "${place.userHome}/told"`)
    const refuse = await script('refuse.sh', `echo '{"decision":"block","reason":"Not today."}'`)
    const watching = ['on_stream_start', 'on_stream_delta', 'on_stream_end', 'on_interim_message', 'on_session_end']
    const hooks = {
      ...Object.fromEntries(watching.map((event) => [event, [{ command: teller }]])),
      pre_command: [{ command: refuse, matcher: 'title' }],
      pre_auxiliary_call: [{ command: refuse }],
    }
    const opened = await open({ hooks }, accepting)
    server.enqueue({ text: 'I will.', toolCalls: [{ name: 'terminal', args: { command: 'touch made' } }] })
    server.enqueue({ text: 'Done.' })
    const { agent } = await opened.createAgent({ platform: 'cli' })
    await agent.run('Go.').result
    const lines = async () =>
      (await readFile(join(place.userHome, 'told'), 'utf8')).split('\n').filter((line) => line !== '')
    const ended = async () => (await lines()).filter((line) => line.includes('"final_text"')).length
    await expect.poll(ended, { timeout: 10_000 }).toBe(2)
    const events = (await lines()).map((line) => JSON.parse(line) as { hook_event_name: string; extra: object })
    const named = (name: string) => events.filter((event) => event.hook_event_name === name).map(({ extra }) => extra)
    expect(named('on_stream_end')).toMatchObject([{ final_text: 'I will.', finished: true }, { final_text: 'Done.' }])
    expect(named('on_interim_message')).toMatchObject([{ text: 'I will.', already_streamed: true }])
    expect(
      named('on_stream_delta')
        .map((extra) => (extra as { delta: string }).delta)
        .join(''),
    ).toBe('I will.Done.')
    const requests = server.requests.length
    await expect(opened.doSessionJob('session-title', agent.sessionId)).rejects.toThrow('Not today.')
    expect(server.requests).toHaveLength(requests)
    const command = (name: string) => opened.extensions.list('command').find(({ item }) => item.name === name)!.item
    const signal = new AbortController().signal
    const caller = { platform: 'cli', user: 'ada', isOwner: true, changes: [] } as const
    const context = { caller, session: null, cwd: place.cwd, commands: [], notice: () => undefined, signal }
    await expect((async () => command('title').run({}, context))()).rejects.toThrow('Not today.')
    await expect((async () => command('doctor').run({}, context))()).resolves.toBeDefined()
  })

  it('is not run for tools that its matcher does not name', async () => {
    const file = await script('guard.sh', 'exit 2')
    const { last } = await say(
      await open(guard('pre_tool_call', file, { matcher: 'write_file' }), accepting),
      'Go.',
      touch,
    )
    expect(last).not.toContain('objected')
  })

  it.each([
    ['is not there', async () => 'no-such-program', {}, true],
    ['never ends', () => script('hang.sh', 'sleep 60'), { timeout: 0.3 }, true],
    ['answers with broken JSON', () => script('odd.sh', `echo '{"decision":'`), {}, true],
    ['floods its output', () => script('flood.sh', 'yes'), {}, true],
    ['fails in a way of its own', () => script('one.sh', 'exit 1'), {}, false],
    ['fails where every failure counts', () => script('one.sh', 'exit 1'), { fail_closed: true }, true],
    ['is not there, where none does', async () => 'no-such-program', { fail_closed: false }, false],
    ['does not read what it is told', () => script('deaf.sh', 'exec <&-; exit 0'), {}, false],
  ])('that %s blocks where nothing can be said of its answer', async (_, command, more, blocks) => {
    const opened = await open(guard('pre_tool_call', await command(), more), accepting)
    const { last, result } = await say(opened, 'Go.', touch)
    expect(result).toMatchObject({ status: 'completed' })
    expect(last.includes('The hook ')).toBe(blocks)
  })

  it('never gets past the hard floor, nor past approvals.deny', async () => {
    const opened = await open(
      { ...guard('pre_tool_call', 'rm -rf /'), approvals: { deny: ['*forbidden.sh*'] } },
      accepting,
    )
    expect((await say(opened, 'Go.', touch)).last).toContain('nothing permits that')
    await runtime!.close()
    const file = await script('forbidden.sh', 'exit 0')
    const again = await open({ ...guard('pre_tool_call', file), approvals: { deny: ['*forbidden.sh*'] } }, accepting)
    expect((await say(again, 'Go.', touch)).last).toContain('The configured deny pattern')
  })

  it('changes arguments, one after the other; an objection counts more', async () => {
    const change = (name: string, args: object) => script(name, `echo '${JSON.stringify({ action: 'modify', args })}'`)
    const one = { command: await change('one.sh', { command: 'echo one' }) }
    const two = { command: await change('two.sh', { workdir: '/' }) }
    const opened = await open({ hooks: { pre_tool_call: [one, two] } }, accepting)
    const { last } = await say(opened, 'Go.', ['terminal', { command: 'true' }])
    expect(last).toContain('one')
    expect(last).toContain('a hook changed it')
    expect(last).toContain('workdir')
    await runtime!.close()
    const no = { command: await script('no.sh', 'echo "not today" >&2; exit 2') }
    const blocking = await open({ hooks: { pre_tool_call: [one, no, two] } }, accepting)
    expect((await say(blocking, 'Go.', ['terminal', { command: 'true' }])).last).toContain('not today')
  })

  it('adds to the newest message, and puts another result in place before it is stored', async () => {
    const adds = await script('adds.sh', `echo '{"context":"It rains in Bern."}'`)
    const puts = await script('puts.sh', `echo '{"action":"replace","text":"nothing to see"}'`)
    const hooks = { pre_llm_call: [{ command: adds }], transform_tool_result: [{ command: puts }] }
    const { all, last } = await say(await open({ hooks }, accepting), 'Go.', ['terminal', { command: 'echo secret' }])
    expect(all).toContain('It rains in Bern.')
    expect(last).toContain('nothing to see')
    expect(all).not.toContain('secret\\n')
  })

  it('has the model go on after its answer', async () => {
    const check = await script(
      'check.sh',
      `grep -q '"attempt":0' && echo '{"action":"continue","message":"Run the tests first."}'; exit 0`,
    )
    const opened = await open(guard('pre_verify', check), accepting)
    server.enqueue({ text: 'Ready.' })
    const { all, result } = await say(opened, 'Go.')
    expect(all).toContain('Run the tests first.')
    expect(result).toMatchObject({ status: 'completed', text: 'Done.' })
  })

  it('is looked at by hermes doctor: a script that was edited, a program that is not there, an answer that is none', async () => {
    const edited = await script('edited.sh', 'exit 0')
    const odd = await script('odd.sh', `echo '{"decision":'`)
    const hooks = [edited, odd, 'no-such-program', join(place.userHome, 'gone.sh')].map((command) => ({ command }))
    const opened = await open({ hooks: { post_tool_call: hooks } })
    await opened.hooks.agree(place.cwd)
    await say(opened, 'Go.', touch)
    await script('edited.sh', 'exit 1')
    const check = opened.extensions.list('check').find(({ item }) => item.name === 'hooks')!.item
    const findings = await check.run({ isOffline: true, signal: new AbortController().signal })
    const at = 'post_tool_call: '
    expect(findings.map(({ level, text }) => `${level} ${text}`)).toEqual([
      `warn ${at}${edited} has changed since you agreed to it. Run: hermes hooks accept 1`,
      `warn ${at}${odd} does not work: The hook ${odd} answered with broken JSON. To try it: hermes hooks test 2`,
      `warn ${at}no-such-program does not work: no-such-program is no program that can be run. To try it: hermes hooks test 3`,
      `warn ${at}${place.userHome}/gone.sh does not work: ${place.userHome}/gone.sh is no program that can be run. To try it: hermes hooks test 4`,
    ])
  })

  it('that watches never holds a run up', async () => {
    const hooks = Object.fromEntries(
      ['on_session_start', 'post_tool_call', 'post_api_request', 'on_session_end'].map((event) => [
        event,
        [{ command: 'no-such-program' }],
      ]),
    )
    expect((await say(await open({ hooks }, accepting), 'Go.', touch)).result).toMatchObject({ status: 'completed' })
  })
})

describe('a hook of a project', () => {
  const settings = (event: string, command: string, matcher = '') =>
    writeFile(
      join(place.cwd, '.claude/settings.json'),
      JSON.stringify({ hooks: { [event]: [{ matcher, hooks: [{ type: 'command', command }] }] } }),
    )

  beforeEach(() => mkdir(join(place.cwd, '.claude'), { recursive: true }))

  it('runs only where the project is trusted, as Claude Code would run it', async () => {
    await script(
      'work/.claude/hooks/check.sh',
      `jq -e . >/dev/null 2>&1; echo "no $(basename "$CLAUDE_PROJECT_DIR")" >&2; exit 2`,
    )
    await settings('PreToolUse', '"$CLAUDE_PROJECT_DIR"/.claude/hooks/check.sh', 'Bash')
    const opened = await open({}, accepting)
    const before = await say(opened, 'Go.', touch)
    expect(before.notices[0]).toMatch(
      /brings hooks \(\.claude\/settings\.json\), which do not run: the project is not trusted/,
    )
    expect(before.last).not.toContain('no work')
    await opened.trust.answer(place.cwd, true)
    expect((await say(opened, 'Go.', touch)).last).toContain('no work')
    await script('work/.claude/hooks/check.sh', 'exit 0')
    expect((await say(opened, 'Go.', touch)).notices).toHaveLength(0)
    expect((await opened.hooks.list(place.cwd)).hooks).toEqual([])
  })

  it('stops a message before any model sees it', async () => {
    await settings(
      'UserPromptSubmit',
      `grep -q '"permission_mode":"bypassPermissions"' && echo "a key is in it" >&2; exit 2`,
    )
    const { result } = await say(await open({}, { ...accepting, trust: true }), 'My key is x.')
    expect(result).toMatchObject({
      status: 'stopped',
      error: { code: 'hooks.blocked', message: 'A hook stopped this run: a key is in it' },
    })
    expect(server.requests).toHaveLength(0)
  })

  it('keeps a conversation from being compacted, and is heard by the person', async () => {
    await settings(
      'PreCompact',
      `touch ${place.userHome}/looked; echo '{"decision":"block","reason":"not now","systemMessage":"I looked."}'`,
    )
    const opened = await open({}, { ...accepting, trust: true })
    server.enqueue({ text: 'One.' }, { text: 'Two.' })
    const { agent } = await opened.createAgent({ platform: 'cli' })
    await agent.run('Go.').result
    await agent.planCompaction({ keepTurns: 1 })
    expect(existsSync(join(place.userHome, 'looked'))).toBe(false)
    expect(await agent.compact({ keepTurns: 1 })).toMatchObject({ type: 'unchanged', reason: 'not now' })
    const texts: string[] = []
    for await (const event of agent.run('On.')) if (event.type === 'notice') texts.push(event.text)
    expect(texts).toContain('I looked.')
  })

  it('of Codex is read from its settings too', async () => {
    await mkdir(join(place.cwd, '.codex'))
    await writeFile(
      join(place.cwd, '.codex/config.toml'),
      [
        'model = "m"',
        '[[hooks.PreToolUse]]',
        'matcher = "^Bash$"',
        '[[hooks.PreToolUse.hooks]]',
        'type = "command"',
        `command = 'echo "not by Codex" >&2; exit 2'`,
        '[hooks.state."x"]',
        'trusted_hash = "y"',
      ].join('\n'),
    )
    const { last, notices } = await say(await open({}, { ...accepting, trust: true }), 'Go.', touch)
    expect(last).toContain('not by Codex')
    expect(notices).toEqual([])
  })

  it('that is only told of a question never answers it', async () => {
    await settings('Notification', 'echo "no" >&2; exit 2')
    const logged: string[] = []
    const warn = (message: string) => void logged.push(message)
    const opened = await open({}, { ...accepting, trust: true, yolo: false, logger: { ...silentLogger, warn } })
    server.enqueue({ toolCalls: [{ name: 'terminal', args: { command: 'rm -rf build' } }] }, { text: 'Done.' })
    const { agent } = await opened.createAgent({ platform: 'cli' })
    const answered = new Promise<boolean>((resolve) => {
      opened.policy.listen(agent.sessionId, async (id) => {
        await expect
          .poll(() => logged.join())
          .toContain('ended with exit code 2: no')
          .catch(() => undefined)
        resolve(await opened.policy.answer(id, 'once', 'the person'))
      })
    })
    await agent.run('Go.').result
    expect(await answered).toBe(true)
    expect(JSON.stringify(server.requests.at(-1)!.body.messages.at(-1))).not.toContain('Not permitted')
  })

  it('does not say yes in a person’s place, but says no', async () => {
    const answer = (behavior: string) =>
      `echo '{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"${behavior}","message":"no"}}}'`
    const marker = join(place.userHome, 'told')
    /** How the question ends; the person, if any, says no once the hook has spoken. */
    const outcomeOf = async (hasPerson: boolean) => {
      const opened = await open({}, { ...accepting, trust: true, yolo: false })
      server.enqueue({ toolCalls: [{ name: 'terminal', args: { command: 'rm -rf build' } }] }, { text: 'Done.' })
      const { agent } = await opened.createAgent({ platform: 'cli' })
      const person = async (id: string) => {
        await expect.poll(() => existsSync(marker)).toBe(true)
        if (hasPerson) await opened.policy.answer(id, 'deny', 'the person')
      }
      opened.policy.listen(agent.sessionId, (id) => void person(id))
      await agent.run('Go.').result
      const last = JSON.stringify(server.requests.at(-1)!.body.messages)
      await opened.close()
      runtime = null
      return last
    }
    await settings('PermissionRequest', `touch ${marker}; ${answer('allow')}`)
    expect(await outcomeOf(true)).toContain('Not permitted')
    await settings('PermissionRequest', `touch ${marker}; ${answer('deny')}`)
    expect(await outcomeOf(false)).toContain('Not permitted')
  })
})

describe('a webhook', () => {
  let listening: Server
  let url = ''
  const bodies: { readonly event: string; readonly signature: string; readonly body: string }[] = []
  let status = 500

  beforeEach(async () => {
    bodies.length = 0
    status = 500
    listening = createServer((request, response) => {
      let body = ''
      request.on('data', (chunk) => {
        body += chunk
      })
      request.on('end', () => {
        const { headers } = request
        bodies.push({
          body,
          event: String(headers['x-hermes-event']),
          signature: String(headers['x-hermes-signature-256']),
        })
        response.writeHead(status, { location: '/elsewhere' }).end()
        status = 204
      })
    })
    await new Promise<void>((resolve) => listening.listen(0, '127.0.0.1', resolve))
    url = `http://127.0.0.1:${(listening.address() as AddressInfo).port}/in`
  })
  afterEach(() => new Promise((resolve) => listening.close(resolve)))

  const outbound = (more: object = {}) => ({
    hooks: { outbound: [{ url, events: ['post_tool_call'], secret: 'long-secret-words', ...more }] },
  })

  it('is told what happened, signed, and asked once more where it failed', async () => {
    await say(await open(outbound()), 'Go.', touch)
    await runtime!.close()
    runtime = null
    expect(bodies).toHaveLength(2)
    const [, { body, event, signature }] = bodies as [unknown, (typeof bodies)[number]]
    expect(event).toBe('post_tool_call')
    expect(signature).toBe(`sha256=${createHmac('sha256', 'long-secret-words').update(body).digest('hex')}`)
    expect(JSON.parse(body)).toMatchObject({
      hook_event_name: 'post_tool_call',
      tool_name: 'terminal',
      delivery_id: expect.any(String),
    })
  })

  it('is told nothing without the key that it is signed with, which is said', async () => {
    const keyed = { secret: undefined, secret_env: 'OPS_KEY' }
    const { notices } = await say(await open(outbound(keyed)), 'Go.', touch)
    expect(notices).toContainEqual(
      expect.stringContaining(
        'the webhook outbound 1 has no effect: OPS_KEY, which its secret_env names, is not set. Put it into .env.',
      ),
    )
    await runtime!.close()
    expect(bodies).toHaveLength(0)
    status = 204
    await say(await open(outbound(keyed), { env: { PATH: process.env['PATH']!, OPS_KEY: 'words' } }), 'Go.', touch)
    await runtime!.close()
    runtime = null
    const [{ signature, body }] = bodies as [(typeof bodies)[number]]
    expect(signature).toBe(`sha256=${createHmac('sha256', 'words').update(body).digest('hex')}`)
  })

  it('is told no secret, of the session or of a task that it delegated', async () => {
    status = 204
    const secret = 'quo"ted-secret-words-1234'
    const events = ['pre_llm_call', 'subagent_start', 'subagent_stop']
    const file = await script('tell.sh', `cat >> "${place.userHome}/heard"`)
    const hooks = { ...outbound({ events }).hooks, subagent_start: [{ command: file }] }
    const env = { PATH: process.env['PATH']!, SOME_API_KEY: secret }
    await writeFile(join(place.home, '.env'), `SOME_API_KEY='${secret}'\n`)
    const opened = await open({ hooks }, { ...accepting, env })
    server.enqueue(
      { toolCalls: [{ name: 'delegate_task', args: { goal: `Look for ${secret}.` } }] },
      { text: `It is ${secret}.` },
    )
    await say(opened, `My key is ${secret}.`)
    await runtime!.close()
    runtime = null
    expect(new Set(bodies.map(({ event }) => event))).toEqual(new Set(events))
    const heard = [...bodies.map(({ body }) => body), await readFile(join(place.userHome, 'heard'), 'utf8')].join('\n')
    expect(heard).toContain('Look for')
    expect(heard).toContain('It is')
    expect(heard).not.toContain('secret-words')
  })

  it('is not asked again where it refuses or sends elsewhere', async () => {
    status = 302
    await say(await open(outbound()), 'Go.', touch)
    await runtime!.close()
    runtime = null
    expect(bodies).toHaveLength(1)
  })
})
