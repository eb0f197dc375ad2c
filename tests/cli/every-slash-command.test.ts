// Every slash command, typed into the built CLI: what it does is looked at in a request, a file, the store or the screen, not in the line that it
// answers with. Commands that another test types are named with that test, and one that nobody types fails here.
import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { chmod, mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { join, resolve } from 'node:path'
import type { CapturedRequest, ModelStep } from '@hermes/testkit'
import { expect, it } from 'vitest'
import { parse } from 'yaml'
import { runCli } from '../support/cli.js'
import { needs } from '../support/require.js'
import { useScene } from '../support/scene.js'
import { hasTmux, openTerminal, type Terminal } from '../support/terminal.js'

const root = resolve(import.meta.dirname, '../..')
const scene = useScene()

/** Typed elsewhere, by the file, named from `tests`, that looks at what it does. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  account: 'cli/auth.test.ts',
  agents: 'golden/terminal.golden.test.ts',
  approvals: 'cli/policy.test.ts',
  branch: 'cli/checkpoints.test.ts',
  btw: 'golden/screens.golden.test.ts',
  checkpoint: 'cli/checkpoints.test.ts',
  compress: 'golden/terminal.golden.test.ts',
  copy: 'cli/interactive-keys.test.ts',
  details: 'cli/screen.test.ts',
  exit: 'cli/interactive.test.ts',
  handoff: '../apps/gateway/src/platforms/handoff.test.ts',
  help: 'golden/terminal.golden.test.ts',
  init: 'cli/slash-commands.test.ts',
  model: 'golden/terminal.golden.test.ts',
  new: 'golden/terminal.golden.test.ts',
  plan: 'golden/terminal.golden.test.ts',
  queue: 'golden/terminal.golden.test.ts',
  reasoning: 'entry-points/reasoning.test.ts',
  reload: 'cli/interactive-keys.test.ts',
  resume: 'golden/terminal.golden.test.ts',
  retry: 'golden/terminal.golden.test.ts',
  review: 'cli/slash-commands.test.ts',
  rollback: 'cli/checkpoints.test.ts',
  sessions: 'golden/terminal.golden.test.ts',
  steer: 'golden/terminal.golden.test.ts',
  stop: 'golden/terminal.golden.test.ts',
  title: 'golden/terminal.golden.test.ts',
  tools: 'golden/terminal.golden.test.ts',
  undo: 'cli/checkpoints.test.ts',
  usage: 'golden/terminal.golden.test.ts',
  yolo: 'cli/interactive.test.ts',
}

/** A conversation that a command is typed into. */
interface Play {
  readonly terminal: Terminal
  /** Sends a line. */
  say(line: string): Promise<void>
  /** Sends a message and resolves with the newest request once it is answered. */
  ask(message: string): Promise<CapturedRequest>
  /** Resolves once the screen has `pattern` somewhere behind the line that was sent last. */
  after(pattern: string | RegExp): Promise<string>
  /** `hermes …` in the same home; what it printed. */
  hermes(...args: readonly string[]): Promise<string>
}

type Effect = (play: Play) => Promise<unknown>

const home = (...path: readonly string[]) => join(scene.home, ...path)
const work = (...path: readonly string[]) => join(scene.cwd, ...path)
const newest = ({ body }: CapturedRequest) => JSON.stringify(body.messages.at(-1))
const eventually = (look: () => unknown) => expect.poll(look, { timeout: 15_000, interval: 30 })
const requestWith = (text: string) =>
  scene.server.requests.find((request) => JSON.stringify(request.body).includes(text))

const DOT = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)

const VAULT = { HERMES_VAULT_PASSPHRASE: 'deep water, long reeds' }

/** In this order in one conversation: some go on from what others did. */
const EFFECTS: Readonly<Record<string, Effect>> = {
  fast: async ({ say, after, ask }) => {
    await say('/fast on')
    await after('from the next request on')
    expect((await ask('Quickly.')).body['service_tier']).toBe('priority')
    await say('/fast off')
    await after('from the next request on')
    expect((await ask('As usual.')).body['service_tier']).toBeUndefined()
  },
  personality: async ({ say, after, ask }) => {
    await say('/personality lake')
    await after('from your next message on')
    expect(newest(await ask('Who are you?'))).toContain('Speak like a lake.')
  },
  image: async ({ terminal, say, ask }) => {
    await say('/image dot.png')
    await terminal.shows(/> @file:"[^\n]*dot\.png"/)
    expect(newest(await ask('What is it?'))).toContain('image_url')
  },
  paste: async ({ terminal, say, ask }) => {
    await say('/paste')
    await terminal.shows(/> @file:"[^"]*image\.png"/)
    expect(newest(await ask('And this?'))).toContain('image_url')
  },
  context: async ({ say, after }) => {
    await say('/context')
    await after(new RegExp(`tools +≈ \\d+ +${scene.server.requests.at(-1)!.body.tools!.length} defined`))
  },
  history: async ({ say, after }) => {
    await say('/history 2')
    await after(/#\d+ .* you +.*And this\?[\s\S]*#\d+ .* Hermes +Heard\./)
  },
  diff: async ({ say, after }) => {
    await writeFile(work('note.txt'), 'colour\n')
    await say('/diff')
    await after(/-color\n\+colour/)
  },
  status: async ({ say, after }) => {
    await say('/status')
    await after(new RegExp(`works in +${scene.cwd}`))
  },
  profile: async ({ say, after }) => {
    await say('/profile')
    await after(scene.home)
  },
  version: async ({ say, after }) => {
    await say('/version')
    const { version } = JSON.parse(await readFile(join(root, 'apps/cli/package.json'), 'utf8'))
    await after(`Hermes ${version}, Node ${process.versions.node}`)
  },
  toolsets: async ({ say, after }) => {
    await say('/toolsets')
    await after(/terminal +.*process/)
  },
  doctor: async ({ say, after }) => {
    await say('/doctor --offline')
    await after(home('config.yaml'))
  },
  config: async ({ say }) => {
    await say('/config agent.max_turns 33')
    await eventually(() => readFile(home('config.yaml'), 'utf8')).toMatch(/"?max_turns"?: ?33/)
  },
  pin: async ({ say, hermes }) => {
    await say('/pin')
    await eventually(() => hermes('sessions', 'list', '--json')).toContain('"isPinned":true')
  },
  archive: async ({ say, hermes }) => {
    await say('/archive')
    await eventually(() => hermes('sessions', 'list', '--json')).not.toContain('"isPinned":true')
    await say('/archive --off')
    await eventually(() => hermes('sessions', 'list', '--json')).toContain('"isPinned":true')
  },
  trust: async ({ say, hermes }) => {
    await say('/trust add')
    await eventually(() => hermes('trust', 'list', '--json')).toContain('"state":"trusted"')
  },
  hooks: async ({ say, ask, after }) => {
    await ask('Nothing happens yet.')
    expect(existsSync(work('began'))).toBe(false)
    await say('/hooks accept')
    await after('Agreed to')
    await ask('Now it does.')
    await eventually(() => existsSync(work('began'))).toBe(true)
  },
  skills: async ({ say }) => {
    await say('/skills create tidy-up for rooms that are not tidy')
    await eventually(() => readFile(home('skills/tidy-up/SKILL.md'), 'utf8').catch(() => '')).toContain('not tidy')
  },
  skill: async ({ ask }) => {
    expect(JSON.stringify((await ask('/skill tidy-up the kitchen')).body.messages)).toMatch(/tidy-up.*the kitchen/)
  },
  'reload-skills': async ({ say, after, ask }) => {
    await mkdir(home('skills/water'), { recursive: true })
    await writeFile(home('skills/water/SKILL.md'), '---\nname: water\ndescription: for plants\n---\nPour slowly.\n')
    await say('/reload-skills')
    await after('2 of your own')
    expect(JSON.stringify((await ask('/water the roses')).body.messages)).toMatch(/water.*the roses/)
  },
  bundles: async ({ say, ask }) => {
    await say('/bundles create garden water tidy-up')
    await eventually(() => readdir(home('skill-bundles')).catch(() => [])).toHaveLength(1)
    expect(JSON.stringify((await ask('/garden in May')).body.messages)).toMatch(/water.*tidy-up.*in May/)
  },
  curator: async ({ say, hermes }) => {
    await say('/curator pin water')
    await eventually(() => hermes('curator', 'status', '--json')).toMatch(/"name":"water".*"pinned"/)
  },
  journey: async ({ say, hermes }) => {
    const { id } = JSON.parse((await hermes('journey', 'list', 'tidy-up', '--json')).split('\n')[0]!)
    await say(`/journey undo ${id}`)
    await eventually(() => existsSync(home('skills/tidy-up/SKILL.md'))).toBe(false)
  },
  refine: async ({ say }) => {
    await say('/refine the garden')
    await eventually(() => requestWith('the garden') !== undefined).toBe(true)
  },
  learning: async ({ say, hermes }) => {
    await say('/learning edit 1 Descale it.')
    await eventually(() => hermes('learning', 'list', '--json')).toContain('Descale it.')
  },
  memory: async ({ say, after }) => {
    await say('/memory list')
    await after('Prefers tabs.')
  },
  insights: async ({ say, after, ask }) => {
    await ask('run it')
    await say('/insights')
    await after(/terminal +1 /)
  },
  mcp: async ({ say }) => {
    await say('/mcp add shelf false')
    await eventually(() => readFile(home('config.yaml'), 'utf8')).toContain('shelf')
  },
  'reload-mcp': async ({ say, after }) => {
    const config = parse(await readFile(home('config.yaml'), 'utf8'))
    await writeFile(home('config.yaml'), JSON.stringify({ ...config, mcp_servers: {} }))
    await say('/reload-mcp')
    await after('Gone: shelf.')
    await say('/mcp')
    await after('No MCP server yet')
  },
  plugins: async ({ say, after }) => {
    await say(`/plugins install ${join(root, 'examples/plugins/word-count')}`)
    await eventually(() => existsSync(home('plugins/word-count'))).toBe(true)
    await after('word-count')
  },
  browser: async ({ say, after }) => {
    const browser = createServer((_, response) => void response.writeHead(404).end()).listen(0, '127.0.0.1')
    await new Promise((resolve) => browser.once('listening', resolve))
    const address = `127.0.0.1:${(browser.address() as { port: number }).port}`
    await say(`/browser connect http://${address}`)
    await after(address)
    await say('/browser')
    await after(`Pages of the public web: ${address}`)
    await say('/browser disconnect')
    browser.close()
  },
  vault: async ({ say, after }) => {
    await say('/vault')
    // There is one, and nobody gave its passphrase here.
    await after('The vault is locked')
  },
  timestamps: async ({ say, ask, terminal }) => {
    await say('/timestamps on')
    await ask('What time is it?')
    await terminal.shows(/\n\d\d:\d\d > What time is it\?/)
  },
  skin: async ({ say, terminal }) => {
    await say('/skin shop')
    await terminal.shows(/\n»$/)
    await say('/skin default')
    await terminal.shows(/\n>$/)
  },
  statusbar: async ({ say, terminal }) => {
    expect(await terminal.bar()).not.toBeNull()
    await say('/statusbar off')
    await eventually(() => terminal.bar()).toBeNull()
  },
  verbose: async ({ say, after, ask, terminal }) => {
    await say('/verbose off')
    await after('in this window')
    const before = (await terminal.screen()).split('✓ terminal').length
    await ask('run it again')
    expect((await terminal.screen()).split('✓ terminal')).toHaveLength(before)
  },
  busy: async ({ say, after, ask, terminal }) => {
    await say('/busy interrupt')
    await after('in this window')
    await say('Never end.')
    await eventually(() => requestWith('Never end.') !== undefined).toBe(true)
    const stalled = scene.server.requests.at(-1)!
    await ask('Rather this.')
    expect(await stalled.ended).toBe('closed')
    await say('/busy background')
    await after('in this window')
    const before = scene.server.requests.length
    await say('Never end.')
    await eventually(() => scene.server.requests.length > before).toBe(true)
    await say('Count the leaves.')
    await after('is under way')
    await eventually(() => requestWith('Count the leaves.')?.body.messages.length).toBeLessThan(4)
    await terminal.press('Escape')
    await after('Stopped.')
    await say('/busy queue')
    await after('in this window')
    // What came of it goes out with the next message.
    await ask('Rather this.')
  },
  background: async ({ say, after }) => {
    await say('/background Count the stones.')
    await after('Heard the stones.')
    expect(requestWith('Count the stones.')!.body.messages.length).toBeLessThan(4)
  },
  moa: async ({ say, after, ask }) => {
    await say('/moa pair')
    await after('Now the mixture pair answers')
    const before = scene.server.requests.length
    await ask('All of you?')
    const models = scene.server.requests.slice(before).map(({ body }) => body.model)
    expect(models.toSorted()).toEqual(['a', 'b', 'd'])
    await say('/model m lab --force')
    await after('Now m')
  },
  subgoal: async ({ say, after }) => {
    await say('/goal Water all plants.')
    await after(/Goal reached: all are wet[^>]*>$/)
    await say('/subgoal the cactus stays dry')
    await after('1. the cactus stays dry')
    await say('/goal resume')
    await after(/Goal reached: all are wet[^>]*>$/)
    expect(requestWith('the cactus stays dry')).toBeDefined()
  },
  goal: async () => {
    // Set with the one before: what the judge has read, and the turn that began by itself.
    expect(requestWith('You judge whether an agent')).toBeDefined()
    expect(requestWith('[The goal is not reached yet.')).toBeDefined()
  },
  worktree: async ({ say, after, ask }) => {
    await say('/worktree new side')
    await after('A new session in')
    const folders = execFileSync('git', ['worktree', 'list'], { cwd: scene.cwd, encoding: 'utf8' })
    expect(folders.trim().split('\n')).toHaveLength(2)
    await ask('Where are we?')
    expect(JSON.stringify(requestWith('Where are we?')!.body.messages)).toContain('.worktrees/side')
  },
}

let judged = 0

/** What the model says: by the words of the person, or that it has heard. */
function answer({ body }: CapturedRequest): ModelStep {
  const [first, last] = [JSON.stringify(body.messages[0]), body.messages.at(-1)!]
  const words = JSON.stringify(last.content)
  if (first.includes('You judge whether an agent'))
    return {
      text:
        judged++ === 0 ? '{"verdict":"continue","reason":"one is dry"}' : '{"verdict":"done","reason":"all are wet"}',
    }
  if (last.role === 'tool') return { text: 'Heard.' }
  if (words.includes('Never end.') && !words.includes('Rather this.')) return { fault: 'stall', text: 'I never' }
  if (words.includes('run it')) return { toolCalls: [{ name: 'terminal', args: { command: 'true' } }] }
  return { text: words.includes('stones') ? 'Heard the stones.' : 'Heard.' }
}

/** A home and a folder with something for each command. */
async function arrange(): Promise<void> {
  await mkdir(home('memories'), { recursive: true, mode: 0o700 })
  await mkdir(home('skins'))
  const models = { base_url: scene.server.baseUrl, api_key: 'k', quirks: { service_tiers: true } }
  const config = {
    model: { provider: 'lab', default: 'm' },
    providers: { lab: models },
    auxiliary: { title_generation: { enabled: false }, session_summary: { enabled: false } },
    personalities: { lake: 'Speak like a lake.' },
    hooks: { pre_llm_call: [{ command: `touch ${work('began')}` }] },
    terminal: { isolation: 'off' },
  }
  await writeFile(home('config.yaml'), JSON.stringify(config))
  await writeFile(home('memories/USER.md'), 'Prefers tabs.')
  await writeFile(home('skins/shop.yaml'), 'branding: {prompt_symbol: "»"}\n')
  await runCli(['moa', 'add', 'pair', '-r', 'lab/a', '-r', 'lab/b', '-a', 'lab/d'], scene)
  const login = ['vault', 'add', 'pond', '--site', 'https://pond.example', '--user', 'ada', '--password-stdin']
  await runCli(login, { ...scene, env: VAULT, input: 'between the reeds' })
  const learnt = { action: 'save', pattern: 'kettle: element burnt out at 3000 W', fix: 'Replace the element.' }
  scene.server.enqueue({ toolCalls: [{ name: 'learning', args: learnt }] }, { text: 'Kept.' })
  await runCli(['chat', '-q', 'Keep it.', '-t', 'terminal,learning'], scene)
  await writeFile(work('dot.png'), DOT)
  await writeFile(work('note.txt'), 'color\n')
  await mkdir(work('bin'))
  await writeFile(work('bin/wl-paste'), `#!/bin/sh\ncat ${work('dot.png')}\n`)
  await chmod(work('bin/wl-paste'), 0o755)
  const git = (...args: readonly string[]) => execFileSync('git', args, { cwd: scene.cwd })
  git('init', '--quiet')
  git('add', '.')
  git('-c', 'user.name=Ada', '-c', 'user.email=ada@example.org', 'commit', '--quiet', '--message', 'Begin')
}

it('are all typed by a test that looks at what they do', async () => {
  const page = await readFile(join(root, 'docs/reference/slash-commands.md'), 'utf8')
  const all = [...page.matchAll(/^\| `\/([\w-]+)/gm)].map(([, name]) => name!)
  expect([...Object.keys(EFFECTS), ...Object.keys(ELSEWHERE)].toSorted()).toEqual(all.toSorted())
  for (const [name, file] of Object.entries(ELSEWHERE))
    expect(await readFile(join(root, 'tests', file), 'utf8'), file).toMatch(new RegExp(`['\`]/${name}\\b`))
})

needs('tmux', hasTmux)('slash commands', () => {
  it('do what they say', async () => {
    await arrange()
    scene.server.setHandler(answer)
    const env = { ...VAULT, PATH: `${work('bin')}:${process.env['PATH']}` }
    await using terminal = await openTerminal([], {
      ...scene,
      home: scene.home,
      cwd: scene.cwd,
      env,
      columns: 120,
      rows: 50,
    })
    for (const question of ['Trust it?', 'Hooks run programs']) {
      await terminal.shows(question)
      await terminal.type('n')
      // The first is asked while somebody may be typing already.
      if (question === 'Trust it?') await terminal.press('Enter')
    }
    await terminal.shows(/\n>$/)
    let last = ''
    const say = async (line: string) => {
      last = line
      await terminal.type(line)
      await terminal.press('Enter')
    }
    const behind = async () => {
      const screen = await terminal.screen()
      const at = screen.lastIndexOf(last)
      return at < 0 ? '' : screen.slice(at + last.length)
    }
    const play: Play = {
      terminal,
      say,
      ask: async (message) => {
        await say(message)
        await eventually(behind).toMatch(/Heard[^\n]*\n[\s\S]*>$/)
        return scene.server.requests.at(-1)!
      },
      after: async (pattern) => {
        const matcher = typeof pattern === 'string' ? expect.stringContaining(pattern) : expect.stringMatching(pattern)
        await eventually(behind).toEqual(matcher)
        return behind()
      },
      hermes: async (...args) => (await runCli(args, scene)).stdout,
    }
    for (const [name, effect] of Object.entries(EFFECTS))
      await effect(play).catch(async (cause: unknown) => {
        throw new Error(`/${name} did something else:\n${await terminal.screen()}`, { cause })
      })
    expect(scene.server.violations).toEqual([])
  }, 240_000)
})
