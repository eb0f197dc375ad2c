import { mkdir, realpath, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { HermesError } from '@hermes/contracts'
import type { Action } from '@hermes/contracts/policy'
import { createPolicy } from '@hermes/safety'
import { CREDENTIAL_PLACES, HARMLESS_PLACES } from '@hermes/safety/credentials'
import { probeIsolation } from '@hermes/sandbox/isolation'
import { testPermit } from '@hermes/sandbox/testing'
import { needs } from '@hermes/testkit/daemons'
import { expect, it } from 'vitest'
import { call, createToolContext, temporaryEnvironment } from './__fixtures__/test-context.js'
import { TOOLCHAINS } from './__fixtures__/toolchains.js'
import { createReadFileTool, createSearchFilesTool, createTerminalTool } from './index.js'

const SECRET = 'the-planted-secret'
/** What settings that hold a login begin like. */
const LOGIN = `url=https://ada:${SECRET}@packages.example.com/simple\n`
/** The names of files nobody has a row for, and how they begin. */
const UNNAMED: readonly (readonly [path: string, text: string])[] = [
  ['.acme/session', SECRET],
  ['.config/acme-cli/config.toml', `endpoint = "https://x"\nkey = "${SECRET}"`],
  ['.config/newcloud/state.json', SECRET],
  ['.local/share/newchat/store.json', SECRET],
  ['.local/state/acme/log', SECRET],
  ['.newdb_history', SECRET],
  ['.secretrc', SECRET],
  ['.local/share/evolution/mail', SECRET],
  ['.var/app/org.example/data', SECRET],
  ['.acmepass', SECRET],
  ['.cargo/registry-token', SECRET],
  ['.npm/_auth_token', SECRET],
  ['.config/nvim/github-token.txt', SECRET],
  ['.vim/api_key', SECRET],
  ['.gradle/signing-key.p12', SECRET],
  ['prod.pem', SECRET],
  ['id_work', SECRET],
  ['github-token.txt', SECRET],
  ['old_bash_history', SECRET],
  ['aws-credentials.csv', SECRET],
  ['Documents/recovery-passwords.txt', SECRET],
  ['Documents/wallet.json', SECRET],
  ['Downloads/client_secret_123.json', SECRET],
  ['Downloads/service-account-prod.json', SECRET],
  ['Downloads/server.key', SECRET],
  ['Downloads/vpn.ovpn', SECRET],
  ['backup/cookies.sqlite', SECRET],
  ['backup/logins.json', SECRET],
  ['other/.env.production', SECRET],
  ['other/secrets.yaml', SECRET],
  ['other/kubeconfig', SECRET],
  ['notes/a.txt', `-----BEGIN OPENSSH PRIVATE KEY-----\n${SECRET}`],
  ['notes/b.txt', `[default]\naws_access_key_id = AKIAIOSFODNN7EXAMPLE\n${SECRET}`],
  ['notes/c.json', `{"refresh_token": "1//0gabcdefghijklmnop", "x": "${SECRET}"}`],
  ['notes/d.txt', `pat ghp_0123456789abcdefghijABCDEFGHIJ012345 ${SECRET}`],
  ['notes/e.txt', `eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P ${SECRET}`],
  ['notes/f.sh', `export OPENAI_API_KEY=abcdefgh12345678\n# ${SECRET}`],
  ['notes/g.txt', `machine example.com login ada password hunter22\n${SECRET}`],
  ['notes/h.conf', `db=postgres://ada:hunter2345@db.example.com/x\n${SECRET}`],
  ['notes/plain.txt', `the word is ${SECRET}`],
]
const ORDINARY: readonly (readonly [path: string, text: string])[] = [
  ['code/login.ts', 'interface Login {\n  password: string\n}\nconst access_token = response.json().access_token\n'],
  ['go/pkg/mod/a/db.go', 'Password: cfg.Password,\nurl := "postgres://user:secret@host/db"\n'],
  ['code/settings.py', "DB_PASSWORD = config.get('password')\nclient_secret = os.environ['X']\n"],
  ['code/README.md', 'export API_KEY=your-key-goes-here\n'],
  ['notes/todo.md', 'buy milk'],
  ['other/src/token.ts', 'export type Token = string'],
  ['other/tokenizer.json', '{"version": "1.0"}'],
  ['other/package.json', '{"name": "other"}'],
  ['.bashrc', 'export PATH=$HOME/bin:$PATH'],
  ['.gitconfig', '[user]\nname = Ada'],
  ['.config/nvim/init.lua', 'vim.o.number = true'],
  ['.config/pip/pip.conf', '[global]\nindex-url = https://packages.example.com/simple'],
  ['.cache/x/y.txt', 'cached'],
  ['.vimrc', 'set number'],
  ['work/.env', 'PORT=3000'],
  ['work/tokens.json', '{"colour": "#fff"}'],
]

async function scene(files: readonly (readonly [string, string])[]) {
  const { folder: root } = await temporaryEnvironment()
  const home = join(await realpath(root), 'home')
  const cwd = join(home, 'work')
  await mkdir(cwd, { recursive: true })
  for (const [path, text] of files) {
    await mkdir(dirname(join(home, path)), { recursive: true })
    await writeFile(join(home, path), text)
  }
  const { environment } = await temporaryEnvironment({
    ...{ cwd, home, temp: [], env: { PATH: '/usr/bin:/bin', HOME: home } },
    isolation: { required: false },
  })
  const policy = createPolicy({ mode: 'ask', home: join(home, '.hermes'), userHome: home })
  const subject = { sessionId: 's', platform: 'cli', agentPath: ['root'], origin: 'model', tainted: false } as const
  const rules: string[] = []
  const permit = async (action: Action) => {
    const decision = await policy.decide(action, { ...subject, workspace: cwd })
    if (decision.type === 'allow') return decision.permit
    rules.push(decision.type === 'deny' ? decision.rule : decision.question.rule)
    throw new HermesError('Not allowed here.', { code: 'policy.denied' })
  }
  const context = { ...createToolContext({ environment }), permit }
  const read = async (path: string) => call(createReadFileTool(), { path: join(home, path) }, context)
  /** What isolated commands show of files. */
  const shown = async (paths: readonly string[]) => {
    const list = paths.map((path) => `'${join(home, path)}'`).join(' ')
    const command = `for one in ${list}; do cat "$one" 2>/dev/null && echo "<$one>"; done; true`
    const { output } = await environment.exec(testPermit({ type: 'spawn', command, cwd, backend: 'local' }), command)
    return paths.filter((path) => output.includes(`<${join(home, path)}>`))
  }
  return { home, environment, context, read, shown, rules }
}

/** One file for each row of the table, as it is or in the folder it names. */
const planted = CREDENTIAL_PLACES.map(({ path, when }): readonly [string, string] =>
  when === undefined ? [fileIn(path), SECRET] : [path, LOGIN],
)
function fileIn(path: string): string {
  return /\.(?:json|toml|ya?ml|xml|conf|cnf|cfg|js)$|_history$|rc$|[/.](?:netrc|credentials|token|stored_tokens|config)$/.test(
    path,
  )
    ? path
    : `${path}/some-file`
}

it(`asks before each of the ${CREDENTIAL_PLACES.length} known places of credentials is read, or refuses`, async () => {
  const { read, rules } = await scene(planted)
  const through: string[] = []
  for (const [path] of planted) if ((await read(path)).text.includes(SECRET)) through.push(path)
  expect(through).toEqual([])
  expect(rules).toHaveLength(planted.length)
})

it('catches 36 of 40 files of keys that no row names, by their place, name or beginning, and no ordinary file', async () => {
  const { read } = await scene([...UNNAMED, ...ORDINARY])
  const through: string[] = []
  for (const [path] of UNNAMED) if ((await read(path)).text.includes(SECRET)) through.push(path)
  expect(UNNAMED).toHaveLength(40)
  expect(UNNAMED.length - through.length).toBeGreaterThanOrEqual(36)
  const refused: string[] = []
  for (const [path] of ORDINARY) if ((await read(path)).isError) refused.push(path)
  expect(refused).toEqual([])
})

it('leaves files of keys out of a search without a question for each', async () => {
  const { home, context } = await scene([...UNNAMED, ...ORDINARY])
  const requested: unknown[] = []
  const permit: typeof context.permit = async (action) => {
    requested.push(action)
    return context.permit(action)
  }
  const found = await call(
    createSearchFilesTool(),
    { pattern: SECRET, path: join(home, 'notes') },
    { ...context, permit },
  )
  expect(found.text).toContain('plain.txt')
  expect(found.text).not.toMatch(/[a-h]\.(?:txt|json|sh|conf)/)
})

it('reads what terminal.isolation_read names, but no private key', async () => {
  const files = [['.acme/session', SECRET] as const, ['.npmrc', SECRET] as const, ['.ssh/id_rsa', SECRET] as const]
  const { read, home } = await scene(files)
  expect((await read('.acme/session')).isError).toBe(true)
  const readable = files.map(([path]) => join(home, path))
  const policy = createPolicy({ mode: 'ask', home: '/h', userHome: home, readable })
  const subject = { sessionId: 's', platform: 'cli', agentPath: ['root'], origin: 'model', tainted: false } as const
  const decisions = readable.map(
    async (path) => (await policy.decide({ type: 'read', path, backend: 'local' }, subject)).type,
  )
  expect(await Promise.all(decisions)).toEqual(['allow', 'allow', 'deny'])
})

needs(await probeIsolation())('isolated commands', () => {
  it('see none of the known places of credentials, and nothing with a dot that nobody vouches for', async () => {
    const dotted = UNNAMED.filter(([path]) => path.startsWith('.') || !path.includes('/'))
    const { shown } = await scene([...planted, ...dotted])
    expect(await shown([...planted, ...dotted].map(([path]) => path))).toEqual([])
    const ordinary = await scene(ORDINARY)
    expect(await ordinary.shown(ORDINARY.map(([path]) => path))).toEqual(ORDINARY.map(([path]) => path))
  })

  it('find every harmless place', async () => {
    const files = HARMLESS_PLACES.map((path) => [`${path}/part`, 'x'] as const)
    const named = new Set(CREDENTIAL_PLACES.map(({ path }) => path))
    const plain = files.filter(([path]) => !named.has(dirname(path)))
    const { shown } = await scene(plain)
    expect(await shown(plain.map(([path]) => path))).toEqual(plain.map(([path]) => path))
  })

  it('name the path that was out of sight when they fail', async () => {
    const { context, home } = await scene([['.acme/session', SECRET]])
    const permit = async (action: Action) => testPermit(action)
    const run = (command: string) => call(createTerminalTool(), { command }, { ...context, permit })
    expect((await run('cat ~/.acme/session')).text).toContain(`isolated commands cannot see ${home}/.acme/session.`)
    expect((await run('cat ~/nothing')).text).not.toContain('isolated commands')
  })
})

needs(await probeIsolation())('isolated', () => {
  it(`${TOOLCHAINS.length} toolchains under a home directory run, and what a command puts on PATH shows nothing more`, async () => {
    const { folder: root } = await temporaryEnvironment()
    const home = join(await realpath(root), 'home')
    await mkdir(join(home, 'work'), { recursive: true })
    await mkdir(join(home, '.acme/bin'), { recursive: true })
    await writeFile(join(home, '.acme/bin/key'), SECRET)
    for (const [program, part] of TOOLCHAINS) {
      for (const path of [program, part]) await mkdir(dirname(join(home, path)), { recursive: true })
      await writeFile(join(home, part), 'echo works')
      await writeFile(join(home, program), `#!/bin/sh\n. '${join(home, part)}'\n`, { mode: 0o755 })
    }
    const PATH = [...TOOLCHAINS.map(([program]) => dirname(join(home, program))), '/usr/bin', '/bin'].join(':')
    const cwd = join(home, 'work')
    const options = { cwd, home, temp: [], env: { PATH, HOME: home }, isolation: {} }
    const { environment } = await temporaryEnvironment(options)
    const run = (command: string) =>
      environment.exec(testPermit({ type: 'spawn', command, cwd, backend: 'local' }), command)
    const programs = TOOLCHAINS.map(([program]) => program.slice(program.lastIndexOf('/') + 1))
    const { output } = await run(`${programs.join('; ')}; export PATH=$HOME/.acme/bin:$PATH`)
    expect(output).toBe('works\n'.repeat(TOOLCHAINS.length))
    expect((await run('cat ~/.acme/bin/key')).output).not.toContain(SECRET)
  })
})
