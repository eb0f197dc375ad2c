// Search with filters, exports, imports, pruning and figures of the sessions, as a person meets them.
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { runCli } from '../support/cli.js'
import { useScene } from '../support/scene.js'

const scene = useScene()

const hermes = (args: readonly string[], home = scene.home) => runCli(args, { home, cwd: scene.cwd })

async function talk(query: string, answer: string): Promise<void> {
  scene.server.enqueue({ text: answer })
  expect((await hermes(['chat', '-q', query, '--base-url', scene.server.baseUrl, '-m', 'm'])).exitCode).toBe(0)
}

const codexLines = [
  {
    timestamp: '2025-12-08T00:37:46.102Z',
    type: 'session_meta',
    payload: { id: 'c0dex', cwd: '/p', cli_version: '0.65.0' },
  },
  {
    timestamp: '2025-12-08T00:37:47.000Z',
    type: 'response_item',
    payload: { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Where is the <kettle>?' }] },
  },
  {
    timestamp: '2025-12-08T00:37:48.000Z',
    type: 'response_item',
    payload: { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'On the stove.' }] },
  },
]

async function importCodex(): Promise<void> {
  const folder = join(scene.cwd, 'sessions', '2025', '12', '08')
  await mkdir(folder, { recursive: true })
  const file = join(folder, 'rollout-2025-12-08T00-37-46-c0dex.jsonl')
  await writeFile(file, codexLines.map((line) => `${JSON.stringify(line)}\n`).join(''))
  const imported = await hermes(['sessions', 'import', 'sessions'])
  expect(imported).toMatchObject({
    exitCode: 0,
    stdout: `codex-c0dex  2 messages from ${file}\n`,
    stderr: '1 imported, 0 there already, 0 not understood.\n',
  })
}

describe('hermes sessions import', () => {
  it('brings conversations in once, where they are found, shown and gone on with', async () => {
    await importCodex()
    expect((await hermes(['sessions', 'import', 'sessions'])).stderr).toBe(
      '0 imported, 1 there already, 0 not understood.\n',
    )
    expect((await hermes(['sessions', 'search', 'kettle'])).stdout).toContain('codex-c0dex')
    scene.server.enqueue({ text: 'Still there.' })
    const args = [
      'chat',
      '-r',
      'codex-c0dex',
      '-q',
      'And now?',
      '--base-url',
      scene.server.baseUrl,
      '--provider',
      'custom',
      '-m',
      'm',
    ]
    expect(await hermes(args)).toMatchObject({ exitCode: 0, stdout: 'Still there.\n' })
    expect(JSON.stringify(scene.server.requests.at(-1)!.body)).toContain('On the stove.')
  })

  it('says what it does not understand, and where nothing is', async () => {
    await writeFile(join(scene.cwd, 'a.jsonl'), '{"some":"thing"}\n')
    const strange = await hermes(['sessions', 'import', 'a.jsonl'])
    expect(strange).toMatchObject({ exitCode: 1, stdout: '' })
    expect(strange.stderr).toMatch(
      /a\.jsonl is no transcript of .*\.\n0 imported, 0 there already, 1 not understood\.\n$/,
    )
    expect((await hermes(['sessions', 'import', 'nowhere'])).stderr).toMatch(/^hermes: .*nowhere does not exist\.\n$/)
  })
})

describe('hermes migrate-sessions', () => {
  it('brings in what older versions kept in the home, and leaves the files', async () => {
    expect((await hermes(['migrate-sessions'])).stderr).toMatch(/^No older version kept transcripts here: /)
    const folder = join(scene.home, 'sessions')
    await mkdir(folder, { recursive: true })
    const lines = [
      { role: 'user', content: 'Boil water' },
      { role: 'assistant', content: 'Boiling.' },
    ]
    await writeFile(
      join(folder, '20250301_123000_ab12cd34.jsonl'),
      lines.map((line) => `${JSON.stringify(line)}\n`).join(''),
    )
    expect((await hermes(['migrate-sessions'])).stdout).toMatch(/^20250301_123000_ab12cd34 {2}2 messages from /)
    expect((await hermes(['sessions', 'show', '20250301'])).stdout).toContain('Boiling.')
    expect(await readdir(folder)).toEqual(['20250301_123000_ab12cd34.jsonl'])
  })
})

describe('hermes sessions search', () => {
  it('narrows by role, source, session and date, and shows what stands around', async () => {
    await importCodex()
    await talk('Is the kettle hot?', 'The kettle is hot.')
    const found = async (...args: string[]) =>
      (await hermes(['sessions', 'search', 'kettle', '--json', ...args])).stdout
        .split('\n')
        .filter(Boolean)
        .map((line) => (JSON.parse(line) as { role: string; source: string }).role)
    expect(await found()).toEqual(['assistant', 'user', 'user'])
    expect(await found('--role', 'assistant')).toEqual(['assistant'])
    expect(await found('--source', 'codex')).toEqual(['user'])
    expect(await found('--session', 'codex-c0dex')).toEqual(['user'])
    expect(await found('--before', '2026-01-01')).toEqual(['user'])
    expect(await found('--after', '2026-01-01', '--sort', 'relevance')).toHaveLength(2)
    expect((await hermes(['sessions', 'search', 'kettle', '--source', 'codex', '--context'])).stdout).toContain(
      'assistant: On the stove.',
    )
    expect(await hermes(['sessions', 'search', 'kettle', '--after', 'soon'])).toMatchObject({
      exitCode: 2,
      stderr: 'hermes: --after takes a date such as 2026-03-01, or 2026-03-01T12:30.\n',
    })
  })
})

describe('hermes sessions export', () => {
  it('writes one HTML file that needs nothing else and runs nothing of what was said', async () => {
    await importCodex()
    await writeFile(
      join(scene.cwd, 'x.jsonl'),
      `${JSON.stringify({ role: 'user', content: '</pre><script>alert(1)</script>' })}\n`,
    )
    await hermes(['sessions', 'import', 'x.jsonl'])
    const { stdout } = await hermes(['sessions', 'export', 'codex-c0dex', '-f', 'html'])
    expect(stdout).toContain('Where is the &#60;kettle&#62;?')
    expect(stdout).toContain('<input type="search"')
    expect(stdout).not.toMatch(/(?:src|href)=/)
    expect((await hermes(['sessions', 'export', 'x', '-f', 'html'])).stdout.match(/<script/g)).toHaveLength(1)
  })

  it('writes everything as JSON lines, which another home takes in whole', async () => {
    await importCodex()
    await talk('Is the kettle hot?', 'Yes.')
    await hermes(['sessions', 'tag', 'codex-c0dex', 'tea'])
    const fork = (await hermes(['sessions', 'fork', 'codex-c0dex'])).stdout.trim()
    expect(await hermes(['sessions', 'export', '--all', '-o', 'all.jsonl'])).toMatchObject({ exitCode: 0, stdout: '' })
    const first = await hermes(['sessions', 'list', '--json'])
    const other = join(scene.folder, 'other', '.hermes')
    expect((await hermes(['sessions', 'import', 'all.jsonl'], other)).stderr).toContain('3 imported')
    const facts = ({ stdout }: { stdout: string }) =>
      stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as { id: string; messageCount: number; preview: string })
        .map(({ id, messageCount, preview }) => ({ id, messageCount, preview }))
    const sorted = (list: ReturnType<typeof facts>) => [...list].sort((a, b) => (a.id < b.id ? -1 : 1))
    expect(sorted(facts(await hermes(['sessions', 'list', '--json'], other)))).toEqual(sorted(facts(first)))
    expect((await hermes(['sessions', 'tree', 'codex-c0dex'], other)).stdout).toContain(`└─ ${fork}`)
    expect((await hermes(['sessions', 'tag', 'codex-c0dex'], other)).stdout).toContain('tea')
    const json = await hermes(['sessions', 'export', 'codex-c0dex', '-f', 'json'], other)
    expect(JSON.parse(json.stdout)).toMatchObject({
      session: { id: 'codex-c0dex' },
      entries: [{ type: 'message' }, { type: 'message' }],
    })
    expect((await readFile(join(scene.cwd, 'all.jsonl'), 'utf8')).split('\n').length).toBeGreaterThan(4)
  })

  it('wants one session or all of them', async () => {
    expect(await hermes(['sessions', 'export'])).toMatchObject({
      exitCode: 2,
      stderr: 'hermes: Name one session to export, or say --all.\n',
    })
    expect((await hermes(['sessions', 'export', '--all', '-f', 'md'])).exitCode).toBe(2)
  })
})

describe('hermes sessions prune and stats', () => {
  it('counts, and deletes what ended long ago', async () => {
    await importCodex()
    await talk('Is the kettle hot?', 'Yes.')
    expect((await hermes(['sessions', 'stats'])).stdout).toMatch(
      /^2 sessions, 4 messages, .* MB .*\nFrom 2025-12-08 to .*\n(?: {2}.*\n)*$/,
    )
    expect(JSON.parse((await hermes(['sessions', 'stats', '--json'])).stdout)).toMatchObject({
      sessions: 2,
      messages: 4,
    })
    expect((await hermes(['sessions', 'prune', '--dry-run'])).stdout).toBe(
      '1 sessions were last used more than 90d ago\n',
    )
    expect((await hermes(['sessions', 'prune'])).exitCode).toBe(2)
    expect((await hermes(['sessions', 'prune', '--older-than', '2w', '-y'])).stdout).toBe('Deleted 1 sessions\n')
    expect((await hermes(['sessions', 'list'])).stdout).not.toContain('codex')
    expect((await hermes(['sessions', 'prune', '--older-than', 'long'])).exitCode).toBe(2)
  })
})

it('names files that it cannot import without what a terminal would obey', async () => {
  await mkdir(join(scene.cwd, 'their'))
  await writeFile(join(scene.cwd, 'their', 'a\u001b]52;c;eA==\u0007b.jsonl'), '{"type":"x"}\n')
  const { stderr } = await hermes(['sessions', 'import', 'their'])
  expect(stderr).toContain('/ab.jsonl is no transcript')
  expect(stderr).not.toMatch(/[\u0007\u001b]/)
})
