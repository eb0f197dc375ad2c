// A home that commit 5da8e13 wrote is opened, verified and gone on with by today's command line, gateway and editor server: what a
// version stored is read by every later one. README.md says how the home was made and what is in it.
import { existsSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type CapturedRequest, checkPrefix, type ModelServer, startModelServer, type WireBody } from '@hermes/testkit'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { agentText, startEditor } from '../../support/acp.js'
import { type CliResult, runCli } from '../../support/cli.js'
import { startGateway } from '../../support/gateway.js'
import { FOLDER, unpack } from './packed-home.mjs'

const DAY_MS = 86_400_000
const [home, cwd] = [join(FOLDER, 'user/.hermes'), join(FOLDER, 'work')]
let server: ModelServer
let sessions: Readonly<Record<string, { readonly id: string; readonly request?: WireBody }>>
let leave: () => void

beforeAll(async () => {
  server = await startModelServer()
  const unpacked = await unpack(join(import.meta.dirname, 'home-5da8e13.json.gz'))
  leave = unpacked.leave
  sessions = unpacked.facts.sessions
  giveQuestionsAnotherDay()
  await settings({})
}, 180_000)
afterAll(async () => {
  leave()
  await server.close()
})

/** A question is good for a day; those of this home are as if they had just been asked. */
function giveQuestionsAnotherDay(): void {
  const untilMs = Date.now() + DAY_MS
  query(
    `UPDATE hermes_approvals SET expires_at_ms = ${untilMs}, approval = json_set(approval, '$.expiresAtMs', ${untilMs})`,
  )
}

/** Asks the database of the home for a row. */
function query(sql: string): unknown {
  const database = new DatabaseSync(join(home, 'state.db'))
  try {
    return database.prepare(sql).get()
  } finally {
    database.close()
  }
}

/** Old checkpoints stay: how long ago the home was made must change nothing. */
const settings = (more: object) =>
  writeFile(join(home, 'config.yaml'), JSON.stringify({ checkpoints: { auto_prune: false }, ...more }))

const hermes = (...args: string[]): Promise<CliResult> => runCli(args, { home, cwd, env: { TZ: 'UTC' } })
const flags = () => ['--base-url', server.baseUrl, '-m', 'test']
const chat = (...args: string[]) => hermes('chat', ...flags(), ...args)
const id = (name: string) => sessions[name]!.id
const text = ({ body }: CapturedRequest) => JSON.stringify(body.messages)

/** The newest request begins with every byte that the session's model was sent last by 5da8e13. */
function expectPrefix(name: string): void {
  expect(checkPrefix({ body: sessions[name]!.request! }, server.requests.at(-1)!), name).toBeNull()
  expect(server.violations).toEqual([])
}

async function lines(...args: string[]): Promise<readonly Record<string, unknown>[]> {
  const { exitCode, stdout } = await hermes(...args)
  expect(exitCode).toBe(0)
  return stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
}

describe('the records of the home', () => {
  it('are sound: the audit trail, the database, a copy of it', async () => {
    expect(await hermes('audit', 'verify')).toMatchObject({
      exitCode: 0,
      stdout: expect.stringMatching(/^Intact: 15 /),
    })
    const { stdout } = await hermes('doctor', '--offline')
    expect(stdout).toMatch(/^ok +Session database is sound$/m)
    expect(await hermes('backup', 'create')).toMatchObject({ exitCode: 0 })
    expect(await hermes('backup', 'verify')).toMatchObject({ exitCode: 0 })
  })

  it('are listed, shown, searched and exported', async () => {
    const listed = await lines('sessions', 'list', '--json')
    expect(listed.map((session) => session['id']).toSorted()).toEqual(
      Object.values(sessions)
        .map((session) => session.id)
        .toSorted(),
    )
    const titles = listed.flatMap(({ title }) => title ?? [])
    expect(titles.toSorted()).toEqual(['Adding two and two', 'Kettle', 'Kettle #2'])
    expect(listed.find((session) => session['id'] === id('tools'))).toMatchObject({ messageCount: 14 })
    expect((await hermes('sessions', 'tag', 'Kettle')).stdout).toContain('kitchen')
    expect((await hermes('sessions', 'show', 'Kettle')).stdout).toContain('teakettle')
    expect((await hermes('sessions', 'search', 'teakettle')).stdout).toContain(id('imported'))
    expect((await hermes('sessions', 'search', 'arithmetic')).stdout).toContain('Two sums were worked out.')
    expect((await hermes('sessions', 'tree')).stdout).toMatch(/Kettle\n└─ .*Kettle #2/)
    const exported = await lines('sessions', 'export', '--all')
    expect(JSON.stringify(exported)).toContain('Never touch secret.txt.')
  })

  it('hold what was remembered, allowed and spent', async () => {
    expect(await lines('memory', 'list', '--json')).toMatchObject([
      [{}, { target: 'user', entries: ['Prefers tabs.'] }],
    ])
    expect((await hermes('permissions', 'list')).stdout).toContain('terminal(rm -rf one)')
    expect((await lines('usage', '--days', '36500', '--json'))[0]).toMatchObject({ total: { calls: 40 } })
    server.enqueue(
      {
        toolCalls: [{ name: 'terminal', args: { command: 'echo "kettle: element burnt out at 2200 W" >&2; exit 3' } }],
      },
      { text: 'Seen.' },
    )
    expect(await chat('-q', 'Boil.', '-t', 'terminal,learning')).toMatchObject({ stdout: 'Seen.\n' })
    expect(text(server.requests.at(-1)!)).toMatch(/Prefers tabs\..*What helped then: Replace the element\./)
  })
})

describe('its sessions go on', () => {
  it('after a kill: what the dead process had reserved of the budget is free again', async () => {
    const reserved = 'SELECT count(*) AS calls FROM hermes_holds'
    expect(query(reserved)).toMatchObject({ calls: 1 })
    // Enough for one call, not for two.
    await settings({ budget: { session: { tokens: 60_000 } } })
    server.enqueue({ text: 'Once upon a time.' })
    expect(await chat('-r', id('killed'))).toMatchObject({ exitCode: 0, stdout: 'Once upon a time.\n' })
    expectPrefix('killed')
    expect(query(reserved)).toMatchObject({ calls: 0 })
    await settings({})
  })

  it.each(['tools', 'fork', 'parent', 'terminal', 'always', 'editor'])('with the same prefix: %s', async (name) => {
    server.enqueue({ text: 'Going on.' })
    expect(await chat('-r', id(name), '-q', 'Go on.')).toMatchObject({ exitCode: 0, stdout: 'Going on.\n' })
    expectPrefix(name)
  })

  it('compacted as it is', async () => {
    server.enqueue({ text: 'Going on.' })
    expect((await chat('-r', id('compacted'), '-q', 'Go on.')).stdout).toBe('Going on.\n')
    expectPrefix('compacted')
  })

  it('imported from another program', async () => {
    server.enqueue({ text: 'On the stove.' })
    expect((await chat('-r', id('imported'), '-q', 'And now?')).stdout).toBe('On the stove.\n')
    expect(text(server.requests.at(-1)!)).toContain('Where is the teakettle?')
  })

  it('with the plan that was made', async () => {
    server.enqueue({ toolCalls: [{ name: 'todo_read', args: {} }] }, { text: 'Carried out.' })
    expect((await chat('-r', id('plan'), '--accept')).stdout).toBe('Carried out.\n')
    expectPrefix('plan')
    expect(text(server.requests.at(-1)!)).toMatch(/accepted the plan.*1\. Write plan\.txt\.|Write plan\.txt\./)
  })

  it('with the question that nobody had answered', async () => {
    const [question] = await lines('approvals', 'list', '--json')
    expect(question).toMatchObject({ question: { summary: expect.stringContaining('rm -rf two') } })
    expect(await hermes('approvals', 'answer', String(question!['id']), 'once')).toMatchObject({ exitCode: 0 })
    server.enqueue({ text: 'Gone.' })
    expect(await chat('-r', id('parked'))).toMatchObject({ exitCode: 0, stdout: 'Gone.\n' })
    expectPrefix('parked')
    expect(existsSync(join(cwd, 'two'))).toBe(false)
  })

  it('in the gateway, with results that were waiting', async () => {
    const gateway = await startGateway(flags(), { home, cwd })
    for (const [name, result] of [
      ['background', /completed.*Three apples\.\]/],
      ['cut', /\(Count pears\.\) was interrupted: Hermes ended before it did/],
    ] as const) {
      server.enqueue({ text: 'I heard.' }, { text: 'Nothing new.' })
      const client = gateway.client({ headers: { 'X-Hermes-Session-Id': id(name) } })
      const ask = (content: string) =>
        client.chat.completions.create({ model: 'test', messages: [{ role: 'user', content }] })
      expect((await ask('And?')).choices[0]!.message.content).toBe('I heard.')
      expectPrefix(name)
      expect(JSON.stringify(server.requests.at(-1)!.body.messages.at(-1))).toMatch(result)
      await ask('Again?')
      expect(JSON.stringify(server.requests.at(-1)!.body.messages.at(-1))).not.toMatch(result)
    }
    expect(await gateway.stop()).toBe(0)
  })

  it('in an editor, which is shown what was said', async () => {
    const editor = await startEditor(flags(), { home, cwd })
    await editor.agent.request('session/load', { sessionId: id('editor'), cwd, mcpServers: [] })
    server.enqueue({ text: 'Edited on.' })
    expect(await editor.prompt(id('editor'), 'Once more.')).toBe('end_turn')
    expect(agentText(editor.updates)).toBe('From the editor.Going on.Edited on.')
    expectPrefix('editor')
    expect(await editor.leave()).toBe(0)
  })
})

it('brings files back to its checkpoint', async () => {
  expect(await readFile(join(cwd, 'note.txt'), 'utf8')).toBe('changed by the agent\n')
  const { stdout } = await hermes('checkpoints', 'list')
  expect(stdout).toMatch(/^ *1 {2}.*before: write/m)
  expect(await hermes('checkpoints', 'restore', '1', 'note.txt')).toMatchObject({ exitCode: 0 })
  expect(await readFile(join(cwd, 'note.txt'), 'utf8')).toBe('colour\n')
})

it('is sound after all that, and its trail goes on where it ended', async () => {
  expect(await hermes('audit', 'verify')).toMatchObject({
    exitCode: 0,
    stdout: expect.stringMatching(/^Intact: \d\d /),
  })
  expect((await hermes('doctor', '--offline')).stdout).toMatch(/^ok +Session database is sound$/m)
})
