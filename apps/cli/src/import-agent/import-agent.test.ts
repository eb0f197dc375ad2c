// Homes of other agents are taken over: shown, counted, without secrets, and taken back to the byte.
import { createHash } from 'node:crypto'
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { checkConfig } from '@hermes/config'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { Io } from '../io.js'
import { type ImportFlags, importAgent, undo } from './import-agent.js'
import type { Agent } from './item.js'

let userHome = ''
let home = ''
const canary = (at: number) => `sk-canary-${at}-${(at * 7919 + 104_729).toString(36)}Zq8vTrLm4nXb`

async function plant(folder: string, files: Readonly<Record<string, string>>): Promise<void> {
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true })
    await writeFile(join(folder, path), text)
  }
}

const skill = (name: string) => ({
  [`skills/${name}/SKILL.md`]: `---\nname: ${name}\ndescription: does it\n---\nDo it.\n`,
  [`skills/${name}/run.sh`]: 'echo done\n',
})
const skills = (...names: string[]) => Object.assign({}, ...names.map(skill)) as Record<string, string>

/** Homes of some twenty files each, laid out as their agents do. */
const HOMES: Readonly<Record<string, { readonly at: string; readonly files: Readonly<Record<string, string>> }>> = {
  'claude-code': {
    at: '.claude',
    files: {
      'settings.json': `{ // mine
        "permissions": { "allow": ["Bash(npm run test:*)", "Bash", "Read(~/x)"], "deny": ["Bash(rm -rf:*)"], "ask": ["Bash(git push:*)"] },
        "env": { "SOME_API_KEY": "${canary(1)}", "EDITOR_THEME": "dark" }, "hooks": {}, }`,
      '.claude.json': JSON.stringify({
        mcpServers: {
          files: { command: 'npx', args: ['files-server'], env: { FILES_TOKEN: canary(2), MODE: 'ro' } },
          web: { type: 'http', url: 'https://mcp.test/mcp', headers: { Authorization: `Bearer ${canary(3)}` } },
        },
      }),
      'CLAUDE.md': 'Be brief.\n',
      'commands/one.md': 'one',
      'commands/two.md': 'two',
      'agents/a.md': 'a',
      'projects/p/1.jsonl': '{}',
      ...skills('pdf', 'deploy', 'notes', 'maps', 'tests', 'draw'),
      'skills/leaky/SKILL.md': `Use ${canary(4)}`,
    },
  },
  codex: {
    at: '.codex',
    files: {
      'config.toml': `model = "gpt-5"\n[mcp_servers.docs]\ncommand = "docs"\nargs = ["--stdio"]\n[mcp_servers.docs.env]\nDOCS_API_KEY = "${canary(5)}"\n`,
      'auth.json': JSON.stringify({ OPENAI_API_KEY: canary(6), tokens: { access_token: canary(7) } }),
      'AGENTS.md': 'Be exact.\n',
      'prompts/a.md': 'a',
      'prompts/b.md': 'b',
      'sessions/2026/x.jsonl': '{}',
      ...skills('lint', 'release', 'bench', 'docs', 'audit', 'mail', 'plan'),
    },
  },
  openclaw: {
    at: '.openclaw',
    files: {
      'openclaw.json': `{ agents: { defaults: { model: { primary: 'anthropic/claude-sonnet-4-5' } } }, // one
        models: { providers: { openrouter: { apiKey: '${canary(8)}' } } }, channels: { telegram: { botToken: '${canary(9)}' } } }`,
      '.env': `ANTHROPIC_API_KEY=${canary(10)}\nPLAIN=${canary(11)}\n`,
      'workspace/SOUL.md': 'You are calm.\n',
      'workspace/USER.md': '# User\n\n- Likes tea.\n- Lives by the sea.\n',
      'workspace/MEMORY.md': `# Memory\n\nThe boat is blue.\n\n- The key is ${canary(12)}.\n- The dog is called Pim.\n`,
      'workspace/AGENTS.md': 'Work well.',
      'workspace/memory/2026-01-01.md': 'a day',
      'credentials/x.json': canary(13),
      ...skills('shop', 'cook', 'read', 'walk', 'sail'),
      'workspace/skills/house/SKILL.md': 'Keep it.',
      'workspace/skills/house/.env': canary(14),
    },
  },
  hermes: {
    at: 'old-hermes',
    files: {
      'config.yaml': `model: {provider: openrouter, default: some/model, api_key: ${canary(15)}}\nagent: {max_turns: 33}\nkanban: {x: 1}\nmcp_servers: {db: {command: db, env: {DB_PASSWORD: ${canary(16)}}}}\n`,
      '.env': `OPENROUTER_API_KEY=${canary(17)}\n`,
      'auth.json': canary(18),
      'SOUL.md': 'You are old.\n',
      'memories/MEMORY.md': 'The hill is high.\n§\nThe well is deep.',
      'memories/USER.md': `Name: Ada.\n§\nPin ${canary(19)}`,
      'state.db': '',
      'cron/jobs.json': '[]',
      ...skills('one', 'two', 'three', 'four', 'five', 'six'),
    },
  },
}

const source = (agent: string) => join(userHome, HOMES[agent]!.at)
afterEach(() => rm(userHome, { recursive: true }))
beforeEach(async () => {
  userHome = await mkdtemp(join(tmpdir(), 'hermes-import-agent-'))
  home = join(userHome, '.hermes')
  for (const [agent, { files }] of Object.entries(HOMES)) await plant(source(agent), files)
  await plant(home, {
    'config.yaml': '# mine\ntimezone: UTC\n',
    'permissions.yaml': "'terminal(git push*)': deny # never\n",
  })
})

async function files(
  folder: string,
  without = /^(?:backups|logs|cache|state\.db|trust)/,
): Promise<Readonly<Record<string, string>>> {
  const entries = (await readdir(folder, { recursive: true, withFileTypes: true })).filter((entry) => entry.isFile())
  const all = entries
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => !without.test(path.slice(folder.length + 1)))
  const pairs = all.map(
    async (path) =>
      [
        path,
        createHash('sha256')
          .update(await readFile(path))
          .digest('hex'),
      ] as const,
  )
  return Object.fromEntries(await Promise.all(pairs))
}

const textsOf = async (folder: string) =>
  (await Promise.all(Object.keys(await files(folder, /^$/)).map((path) => readFile(path, 'latin1')))).join('\n')

/** What it says, and its exit code or the line of its refusal. */
async function call(work: (io: Io) => Promise<number>) {
  let text = ''
  const output = { isTTY: false, colors: false, columns: () => 300, write: (more: string) => void (text += more) }
  const around = { env: { HERMES_HOME: home }, userHome, cwd: userHome, tempDir: tmpdir(), stdin: { isTTY: false } }
  const io = { ...around, stdout: output, stderr: output } as unknown as Io
  const exitCode = await work(io).catch((error: Error) => error.message)
  return { exitCode, text }
}
const take = (agent: Agent | undefined, flags: ImportFlags) => call((io) => importAgent(io, agent, flags))
const takeBack = (flags = {}) => call((io) => undo(io, flags))

it.each([
  [
    'claude-code',
    {
      skills: 6,
      setting: ['mcp_servers.files', 'mcp_servers.web'],
      rules: ['deny: terminal(rm -rf*)', 'allow: terminal(npm run test*)'],
      memory: 0,
    },
  ],
  ['codex', { skills: 7, setting: ['model', 'mcp_servers.docs'], rules: [], memory: 0 }],
  ['openclaw', { skills: 5, setting: ['model'], rules: [], memory: 4 }],
  ['hermes', { skills: 6, setting: ['model', 'agent', 'mcp_servers.db'], rules: [], memory: 3 }],
] as const)('%s: what is shown is taken over without secrets, and taken back to the byte', async (agent, expected) => {
  const [before, theirs] = [await files(home), await files(source(agent))]
  const flags = agent === 'hermes' ? { source: source(agent) } : {}
  const shown = await take(agent, { ...flags, dryRun: true, json: true })
  const { taken, left } = JSON.parse(shown.text) as { taken: string[]; left: object[] }
  const begins = (start: string) => taken.filter((name) => name.startsWith(start))
  expect(begins('skill ')).toHaveLength(expected.skills)
  expect(begins('config.yaml: ').map((name) => name.slice(13).replace(/ .*/, ''))).toEqual(expected.setting)
  expect(begins('rule ').map((name) => name.slice(5))).toEqual(expected.rules)
  expect([...begins('memory: '), ...begins('about you: ')]).toHaveLength(expected.memory)
  expect(left.length).toBeGreaterThan(2)
  expect((await take(agent, flags)).exitCode).toContain('--yes')
  expect(await files(home)).toEqual(before)

  const run = await take(agent, { ...flags, yes: true })
  expect([run.exitCode, run.text]).toEqual([0, expect.stringContaining(`Took ${taken.length} things over.`)])
  const after = `${shown.text}${run.text}${await textsOf(home)}`
  expect(after.match(/sk-canary-\d+/g) ?? []).toEqual([])
  expect(after).toContain('# mine')
  const problems = await checkConfig({ home, env: {} })
  const others = problems.filter(({ message }) => !/is not set|mcp_servers is not a known key/.test(message))
  expect(others).toEqual([])
  expect(await files(source(agent))).toEqual(theirs)

  expect((await takeBack()).exitCode).toBe(0)
  expect(await files(home)).toEqual(before)
  expect((await takeBack()).exitCode).toContain('Nothing was taken over')
})

it('with --secrets keys come into .env alone; undo leaves what was changed since', async () => {
  const run = await take('openclaw', { yes: true, secrets: true })
  expect(run.text).not.toContain('sk-canary')
  const env = await readFile(join(home, '.env'), 'utf8')
  expect(env).toContain(`ANTHROPIC_API_KEY=${canary(10)}`)
  expect(env).toContain(`OPENROUTER_API_KEY=${canary(8)}`)
  expect(await readFile(join(home, 'memories', 'MEMORY.md'), 'utf8')).not.toContain('canary')
  await writeFile(join(home, 'SOUL.md'), 'You are mine.\n')
  expect(await takeBack()).toMatchObject({ exitCode: 1, text: expect.stringContaining('SOUL.md') })
  expect(await readFile(join(home, 'SOUL.md'), 'utf8')).toBe('You are mine.\n')
  expect(await takeBack({ force: true })).toMatchObject({ exitCode: 0 })
  expect(await readdir(home)).not.toContain('SOUL.md')
})

it('lists the agents that are here', async () => {
  const { text } = await take(undefined, { json: true })
  const agents = text
    .trim()
    .split('\n')
    .map((line) => (JSON.parse(line) as { agent: string }).agent)
  expect(agents).toEqual(['claude-code', 'codex', 'openclaw'])
})

it('says which folder is missing, and how to name another one', async () => {
  const of = async (agent: Agent, flags: ImportFlags = {}) => (await take(agent, flags)).exitCode
  expect(await of('hermes')).toBe('Cannot find the folder of hermes. Say where it is: --source FOLDER')
  expect(await of('codex', { source: 'gone' })).toBe(
    `${join(userHome, 'gone')} is not a folder. Say where the folder of codex is: --source FOLDER`,
  )
  expect(await of('hermes', { source: home })).toContain(`This Hermes itself uses ${home}. Name the folder of another`)
})
