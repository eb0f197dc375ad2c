// Skills of others through the CLI as it is built, one scene for each kind of source: hubs answer behind a proxy, repositories are real ones.
import { execFileSync } from 'node:child_process'
import { createHash, generateKeyPairSync } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { dirname, join } from 'node:path'
import { startSocksServer } from '@hermes/testkit'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { CLI, runCli } from '../support/cli.js'
import { needs } from '../support/require.js'
import { useScene } from '../support/scene.js'
import { hasTmux, openTerminal } from '../support/terminal.js'

const TLS = join(import.meta.dirname, '../../packages/testkit/src/tls')
const pem = (name: string) => readFileSync(join(TLS, `loopback.${name}.pem`))
const NOTHING_DECLARED = 'its programs: run only after a yes, no network, no keys'

/** The certificate is of no hub. Set for this process too, so that the CLI can run in it. */
const TRUSTS_ALL = { NODE_TLS_REJECT_UNAUTHORIZED: '0', NODE_NO_WARNINGS: '1' }

const scene = useScene({ isShared: true })
/** By host and path, with the query where that matters. */
const pages = new Map<string, string | Uint8Array>()
let server: Server
let socks: Awaited<ReturnType<typeof startSocksServer>>

beforeAll(async () => {
  server = createServer({ key: pem('key'), cert: pem('cert') }, ({ url = '', headers }, response) => {
    const path = `${headers.host}${url}`
    const body = pages.get(path) ?? pages.get(path.split('?')[0]!)
    response.writeHead(body === undefined ? 404 : 200).end(body ?? '')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  socks = await startSocksServer({ onwardPort: (server.address() as AddressInfo).port })
  for (const [name, value] of Object.entries(TRUSTS_ALL)) vi.stubEnv(name, value)
})
afterAll(() => {
  vi.unstubAllEnvs()
  socks.close()
  server.close()
})

async function hermes(...args: readonly string[]): Promise<string> {
  const env = { ...TRUSTS_ALL, HTTPS_PROXY: `socks5h://${socks.address}` }
  const { exitCode, stdout, stderr } = await runCli(args, { home: scene.home, cwd: scene.cwd, env })
  expect(exitCode, `hermes ${args.join(' ')}\n${stdout}${stderr}`).toBe(0)
  return stdout
}

const text = (name: string, body = `Do ${name}.`) => `---\nname: ${name}\ndescription: Does ${name}.\n---\n\n${body}\n`
const sha256 = (body: string) => createHash('sha256').update(body).digest('hex')
const json = (path: string, value: unknown) => void pages.set(path, JSON.stringify(value))

async function put(path: string, body: string): Promise<string> {
  const file = join(scene.folder, path)
  await mkdir(dirname(file), { recursive: true })
  await writeFile(file, body)
  return file
}

/** A repository with these files, which GitHub has under this name. */
async function repository(name: string, files: Readonly<Record<string, string>>, ...args: readonly string[]) {
  const folder = join(scene.folder, 'repositories', `${name}.git`)
  for (const [path, body] of Object.entries(files)) await put(join('repositories', `${name}.git`, path), body)
  const git = (...words: readonly string[]) =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', '-C', folder, ...words], { stdio: 'pipe' })
  git('init', '-q')
  git('add', '-A')
  git('commit', '-qm', 'x')
  const address = `[url "file://${join(scene.folder, 'repositories')}/"]\n\tinsteadOf = https://github.com/\n`
  await put('user/.gitconfig', address)
  return args.length > 0 ? git(...args) : null
}

interface Source {
  /** What is installed, and by what name it is there then. */
  readonly from: string
  readonly name: string
  /** Puts it where it comes from; another text gives another version. */
  readonly publish: (body?: string) => Promise<unknown> | unknown
  /** Words of a search that finds it. */
  readonly search?: readonly string[]
}

const SOURCES: Readonly<Record<string, Source>> = {
  GitHub: {
    from: 'ada/sea/skills/tides',
    name: 'tides',
    publish: async (body) => {
      json('api.github.com/search/repositories', { total_count: 1, items: [{ full_name: 'ada/sea' }] })
      await repository('ada/sea', {
        'skills/tides/SKILL.md': text('tides', body),
        'skills/surf/SKILL.md': text('surf'),
      })
    },
    search: ['sea'],
  },
  'a marketplace': {
    from: 'ada/market',
    name: 'moon',
    publish: (body) => {
      const plugins = [{ name: 'night', source: './plugins/night' }]
      const market = JSON.stringify({ name: 'm', owner: { name: 'a' }, plugins })
      const files = { 'plugins/night/skills/moon/SKILL.md': text('moon', body) }
      return repository('ada/market', { '.claude-plugin/marketplace.json': market, ...files })
    },
  },
  ClawHub: {
    from: 'clawhub:ada/claws',
    name: 'claws',
    publish: (body) => {
      const [version, file] = [body === undefined ? '1.0.0' : '1.1.0', text('claws', body)]
      const skills = 'clawhub.ai/api/v1/skills/claws'
      json(skills, { skill: { slug: 'claws' }, latestVersion: { version }, owner: { handle: 'ada' } })
      json(`${skills}/versions/${version}`, {
        version: { version, files: [{ path: 'SKILL.md', size: file.length, sha256: sha256(file) }] },
      })
      pages.set(`${skills}/file`, file)
      json('clawhub.ai/api/v1/search', { results: [{ slug: 'claws', ownerHandle: 'ada', version }] })
    },
    search: ['claws', '--source', 'clawhub'],
  },
  'skills.sh': {
    from: 'skills.sh:ada/shell/shells',
    name: 'shells',
    publish: (body) => {
      const contents = text('shells', body)
      const files = [{ path: 'SKILL.md', contents }]
      json('skills.sh/api/download/ada/shell/shells', { hash: sha256(contents), files })
      json('skills.sh/api/search', { skills: [{ id: 'ada/shell/shells', name: 'shells', source: 'ada/shell' }] })
    },
    search: ['shells', '--source', 'skills.sh'],
  },
  LobeHub: {
    from: 'lobehub:ada.lobes',
    name: 'lobes',
    publish: async (body) => {
      const version = body === undefined ? '1.0.0' : '1.1.0'
      const archive = await repository(
        'lobes',
        { 'SKILL.md': text('lobes', body) },
        ...['archive', '--format=zip', 'HEAD'],
      )
      const skills = 'market.lobehub.com/api/v1/skills'
      json(`${skills}/ada.lobes`, { identifier: 'ada.lobes', name: 'Lobes', version, resources: {} })
      pages.set(`${skills}/ada.lobes/download`, archive!)
      json(skills, { items: [{ identifier: 'ada.lobes', name: 'Lobes' }], totalCount: 1 })
    },
    search: ['lobes', '--source', 'lobehub'],
  },
  'a site with a list': {
    from: 'https://sea.test#rain',
    name: 'rain',
    publish: (body) => {
      const file = text('rain', body)
      const listed = { name: 'rain', type: 'skill-md', description: 'Rain.', url: 'rain/SKILL.md' }
      json('sea.test/.well-known/agent-skills/index.json', {
        skills: [{ ...listed, digest: `sha256:${sha256(file)}` }],
      })
      pages.set('sea.test/.well-known/agent-skills/rain/SKILL.md', file)
    },
    search: ['https://sea.test'],
  },
  'an address': {
    from: 'https://sea.test/docs/dew/SKILL.md',
    name: 'dew',
    publish: (body) => pages.set('sea.test/docs/dew/SKILL.md', text('dew', body)),
  },
  'a folder': {
    from: './mist',
    name: 'mist',
    publish: (body) => put('work/mist/SKILL.md', text('mist', body)),
  },
  'an MCP server': {
    from: 'mcp:lake/reeds',
    name: 'reeds',
    publish: async (body) => {
      await put('lake/skills/reeds/SKILL.md', text('reeds', body))
      const env = { HERMES_HOME: join(scene.folder, 'lake') }
      const mcp_servers = { lake: { command: process.execPath, args: [CLI, 'mcp', 'serve'], env } }
      const auxiliary = { title_generation: { enabled: false }, session_summary: { enabled: false } }
      await put('user/.hermes/config.yaml', JSON.stringify({ mcp_servers, auxiliary }))
      if (body !== undefined) return
      // Whoever starts another Hermes answers its questions, so that a rule has to allow it: the line says how.
      const refused = await runCli(['skills', 'install', 'mcp:lake/reeds'], { home: scene.home, cwd: scene.cwd })
      const [, rule] = /hermes permissions add '(terminal\([^']*mcp serve\))' allow/.exec(refused.stderr)!
      await hermes('permissions', 'add', rule!, 'allow')
    },
  },
}

it.each(Object.entries(SOURCES))(
  'a skill from %s is found, shown with what it may do, installed and updated',
  async (_, one) => {
    const { from, name, publish, search } = one
    await publish()
    if (search) expect(await hermes('skills', 'search', ...search)).toContain(from.split('/skills/')[0])
    const done = await hermes('skills', 'install', from, '--yes')
    expect(done).toMatch(
      new RegExp(`^${name}: Does ${name}\\.\nfrom [^]*\n${NOTHING_DECLARED}\n[^]*Installed ${name}\\.`),
    )
    expect(done).not.toContain('skills accept')
    const at = one.from.startsWith('.') ? join(scene.cwd, name) : from
    expect(await hermes('skills', 'inspect', name)).toContain(at)
    await publish(`Do ${name} well.`)
    const offer = await hermes('skills', 'update', name)
    expect(offer).toContain('since the installed one: SKILL.md is another one')
    await hermes('skills', 'accept', /skills accept (\w+)/.exec(offer)![1]!)
    expect(await hermes('skills', 'inspect', name)).toContain(`Do ${name} well.`)
  },
)

it('a pack of them is signed, installed as one, listed and taken away', async () => {
  const { privateKey } = generateKeyPairSync('ed25519')
  await put('work/key.pem', privateKey.export({ type: 'pkcs8', format: 'pem' }) as string)
  const pack = await hermes('skills', 'packs', 'create', 'weather', '1.0', 'key.pem', 'rain', 'dew')
  pages.set('sea.test/weather.json', pack)
  const { signatures } = JSON.parse(pack) as { readonly signatures: readonly { readonly keyid: string }[] }
  const config = JSON.parse(await readFile(join(scene.home, 'config.yaml'), 'utf8')) as object
  const packs = { weather: { from: 'https://sea.test/weather.json', key: signatures[0]!.keyid } }
  await put('user/.hermes/config.yaml', JSON.stringify({ ...config, skills: { packs } }))
  for (const name of ['rain', 'dew']) await hermes('skills', 'uninstall', name)
  const done = await hermes('skills', 'install', 'pack:weather', '--yes')
  expect(done).toMatch(/^the pack weather 1\.0: 2 skills\nsigned by ed25519:/)
  expect(done).toMatch(/rain: Does rain\.(?:.|\n)*dew: Does dew\.(?:.|\n)*Installed the pack weather 1\.0\./)
  expect(done.split(NOTHING_DECLARED)).toHaveLength(3)
  expect(await hermes('skills', 'packs')).toMatch(/weather +1\.0 +(?:rain, dew|dew, rain) /)
  expect(await hermes('skills', 'list', 'rain')).toMatch(/rain.*installed/)
  expect(await hermes('skills', 'uninstall', 'pack:weather')).toMatch(
    /Took the pack weather away: (?:rain, dew|dew, rain)\./,
  )
})

it('a skill of a plugin is listed with its source, shown, and read by the model', async () => {
  const manifest = { $schema: 'https://agent-plugins.org/schemas/1.0.0/plugin.schema.json', name: 'harbour' }
  await put('work/harbour/plugin.json', JSON.stringify(manifest))
  await put('work/harbour/skills/ropes/SKILL.md', text('ropes', 'Tie a bowline.'))
  expect(await hermes('plugins', 'install', './harbour', '--enable')).toContain('skills: ropes')
  expect(await hermes('skills', 'list', 'ropes')).toMatch(/ropes.*plugin/)
  expect(await hermes('skills', 'inspect', 'ropes')).toContain('Tie a bowline.')
  scene.server.enqueue({ toolCalls: [{ name: 'skill_view', args: { name: 'ropes' } }] }, { text: 'Tied.' })
  const model = ['--base-url', scene.server.baseUrl, '-m', 'm']
  expect(await hermes('chat', '-q', 'Moor the boat.', ...model)).toContain('Tied.')
  const [first, last] = scene.server.requests.map(({ body }) => JSON.stringify(body.messages))
  expect(first).toContain('ropes (plugin)')
  expect(last).toContain('Tie a bowline.')
})

needs('tmux', hasTmux)('in a terminal', () => {
  it('a skill from a repository is installed by one command after a question, used, and named as used', async () => {
    await repository('ada/tea', { 'SKILL.md': text('tea', 'Boil water first.') })
    const install = async (answer: string) => {
      await using terminal = await openTerminal(['skills', 'install', 'ada/tea'], { ...scene, columns: 120 })
      const shown = await terminal.shows('Install it?')
      expect(shown).toContain(NOTHING_DECLARED)
      await terminal.type(answer)
      await terminal.press('Enter')
      expect(await terminal.exitCode()).toBe(0)
      return terminal.screen()
    }
    await install('n')
    expect(await hermes('skills', 'list', 'tea')).not.toContain('Does tea.')
    expect(await install('y')).toContain('Installed tea.')
    scene.server.enqueue({ toolCalls: [{ name: 'skill_view', args: { name: 'tea' } }] }, { text: 'It is hot.' })
    const model = ['--base-url', scene.server.baseUrl, '-m', 'm']
    expect(await hermes('chat', '-q', 'Make tea.', ...model)).toContain('It is hot.')
    expect(await hermes('skills', 'stats')).toMatch(/^tea +1× +1 completed +0 corrected +[\d-]+ +installed/m)
  })
})

it('doctor names a bad skill and two names that differ in case alone, and a single question writes no skill', async () => {
  await put('user/.hermes/skills/broken/SKILL.md', '---\nname: [\n---\nx\n')
  await put('user/.hermes/skills/reed/SKILL.md', text('reed', 'Cut it low.'))
  await put('user/.hermes/skills/Reed/SKILL.md', text('Reed', 'Cut it high.'))
  const { stdout } = await runCli(['doctor'], { home: scene.home, cwd: scene.cwd })
  expect(stdout).toMatch(/Skill \S*\/skills\/broken is left out: /)
  expect(stdout).toMatch(/Two skills are called reed: the user one in \S+ counts, the user one in \S+ does not\./)
  expect((await hermes('skills', 'inspect', 'reed')).match(/Cut it (?:low|high)\./g)).toHaveLength(1)
  const change = { action: 'create', name: 'hasty', description: 'x', content: 'x' }
  const before = scene.server.requests.length
  scene.server.enqueue(
    { toolCalls: [{ name: 'tool_call', args: { name: 'skill_manage', arguments: change } }] },
    { text: 'No.' },
  )
  await hermes('chat', '-q', 'Save it.', '--base-url', scene.server.baseUrl, '-m', 'm')
  expect(JSON.stringify(scene.server.requests[before + 1]!.body.messages)).toContain(
    'Runs without a person write no skills',
  )
  expect(existsSync(join(scene.home, 'skills/hasty'))).toBe(false)
  for (const name of ['broken', 'reed', 'Reed']) await rm(join(scene.home, 'skills', name), { recursive: true })
})

it('the commands that the skill use-hermes names are carried out', async () => {
  const path = new URL('../../packages/skills/bundled/agents/use-hermes/SKILL.md', import.meta.url)
  const named = [...(await readFile(path, 'utf8')).matchAll(/(?:^ *|`)hermes ([^`\n]+)/gm)].map(([, words]) => words!)
  expect(named.length).toBeGreaterThan(12)
  await hermes('config', 'set', 'model.default', 'm')
  await hermes('profile', 'create', 'other')
  // These go on until somebody ends them, or need a name: whether they are there is what is looked at.
  const looked = /^(?:-c|-p NAME|gateway|acp)$/
  for (const command of named) {
    const words = command
      .replace('COMMAND', 'chat')
      .replace('NAME', 'other')
      .match(/'[^']*'|\S+/g)!
    const args = looked.test(command) ? [...words, '--help'] : words.map((word) => word.replaceAll("'", ''))
    const { exitCode, stderr } = await runCli(args, { home: scene.home, cwd: scene.cwd })
    // The model of this home answers nobody here, and doctor says so by its exit code too.
    expect(command === 'doctor' ? 0 : exitCode, `hermes ${command}\n${stderr}`).toBe(0)
  }
})
