// A home with skills, and what its extension registers, called as the agent and a person call it.
import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { silentLogger, systemClock } from '@hermes/contracts'
import type { UserPart } from '@hermes/contracts/conversation'
import type { Command, CommandContext, CommandOutput, Extension } from '@hermes/contracts/extension'
import type { Tool, ToolContext, ToolOutcome } from '@hermes/contracts/tool'
import { createToolRegistry } from '@hermes/registry'
import { type HomeSkills, openSkills, type SkillsHome } from '../index.js'

/** A home whose skills can be looked at from all sides. */
export interface Scene {
  /** Absolute, without links. */
  readonly root: string
  readonly home: SkillsHome
  readonly skills: HomeSkills
  readonly commands: ReadonlyMap<string, Command>
  /** Lines of the switched-off skills in config.yaml. */
  readonly disabled: string[]
  /** Folders that the person trusts. */
  readonly trusted: Set<string>
  /** Writes a file below the root; folders are made. */
  put(path: string, text: string | Uint8Array): Promise<string>
  /** A tool as the model calls it: the text, `error: ` before a failure. */
  call(name: string, args: object): Promise<string>
  outcome(name: string, args: object): Promise<ToolOutcome>
  /** The session has read text from outside. */
  taint(name: string): void
  /** What a person typed, without the slash: all that came of it, as text. */
  type(line: string, args?: object): Promise<string>
  /** What a message of a person brings along. */
  send(text: string): Promise<readonly UserPart[]>
  /** What the handlers of a point give, of an event in a conversation without a word so far where it does not say otherwise. */
  fire(name: string, event: object): Promise<readonly unknown[]>
  /** Texts of `hermes doctor`. */
  doctor(): Promise<readonly string[]>
  /** Another process with the same home. */
  again(over?: SceneOptions): Promise<Scene>
  /** Calls that the extension has open are done. */
  settled(): Promise<void>
  remove(): Promise<void>
}

/** Parts of a home in place of others. */
interface SceneOptions extends Partial<SkillsHome> {
  /** Stands for GitHub and the hubs. */
  readonly site?: string
}

/** What is typed after these is words. */
const WITH_WORDS = new Set(['skills', 'curator', 'journey', 'bundles'])

/** Opens a scene; `over` replaces parts of the home. */
export async function openScene(over: SceneOptions = {}): Promise<Scene> {
  return sceneAt(await realpath(await mkdtemp(join(tmpdir(), 'hermes-skills-'))), over)
}

/** A skill's text. */
export const skillText = (name: string, description = `Does ${name}.`, body = `Do ${name}.`): string =>
  `---\nname: ${name}\ndescription: ${description}\n---\n\n${body}\n`

async function sceneAt(root: string, { site = 'http://127.0.0.1:9', ...over }: SceneOptions): Promise<Scene> {
  const trusted = new Set<string>()
  const disabled: string[] = []
  const outside: string[] = []
  const home: SkillsHome = {
    directory: join(root, 'home/skills'),
    pendingDirectory: join(root, 'home/pending/skills'),
    cacheFile: join(root, 'home/cache/skills-index.json'),
    userHome: join(root, 'user'),
    cwd: join(root, 'work'),
    bundlesDirectory: join(root, 'home/skill-bundles'),
    settings: { external_dirs: [], disabled: [], write_approval: false, project_discovery: true, look_back: true, trusted_sources: [], packs: {} },
    curator: { enabled: true, interval_hours: 168, stale_after_days: 14, archive_after_days: 30 },
    learnt: { often: async () => [], list: async () => [], undo: async () => null },
    ask: async () => '{}',
    personOf: async () => null,
    isSafe: false,
    ofPlugins: async () => [],
    pluginPlaces: async () => [],
    ofServer: async () => [],
    os: 'linux',
    trust: { isTrusted: async (path) => [...trusted].some((folder) => `${path}/`.startsWith(`${folder}/`)) },
    hasVariable: (name) => name === 'SET',
    redact: (text) => text.replaceAll('hunter2', '[redacted]'),
    setDisabled: async (name, isDisabled) => {
      if (isDisabled) disabled.push(name)
    },
    run: (argv, { cwd }) =>
      new Promise((resolve) => {
        execFile(argv[0], argv.slice(1), { cwd, env: { ...process.env, GIT_TERMINAL_PROMPT: '0' } }, (error, stdout, stderr) =>
          resolve({ exitCode: error === null ? 0 : typeof error.code === 'number' ? error.code : 127, stdout, stderr }),
        )
      }),
    fetch: async (url, { maxBytes }) => {
      const response = await fetch(url.replace(/^https:\/\/(?:api\.github\.com|clawhub\.ai|skills\.sh|market\.lobehub\.com)/, site))
      if (!response.ok) throw new Error(`${url} cannot be read: the server answered ${response.status}.`)
      return new Uint8Array(await response.arrayBuffer()).subarray(0, maxBytes)
    },
    clock: systemClock,
    logger: silentLogger,
    ...over,
  }
  for (const folder of [home.userHome, home.cwd]) await mkdir(folder, { recursive: true })
  const skills = openSkills(home)
  const scratch = new Map<string, unknown>()
  const scratched = (key: string, create: () => unknown) => {
    if (!scratch.has(key)) scratch.set(key, create())
    return scratch.get(key)
  }
  const { tools, commands, fire, check, close } = setUp(skills.extension, scratched)
  const registry = createToolRegistry({ tools })
  const context = () =>
    ({
      sessionId: 's1',
      signal: new AbortController().signal,
      environment: { root: home.cwd, cwd: () => home.cwd },
      isTainted: outside.length > 0,
      taintedBy: outside,
      state: { scratch: scratched },
    }) as unknown as ToolContext
  const outcome = async (name: string, args: object) => {
    const prepared = await registry.prepare({ name, args: args as never }, new Set(tools.map((tool) => tool.name)))
    return prepared.type === 'prepared' ? registry.execute(prepared, context()) : prepared.outcome
  }
  return {
    ...{ root, home, skills, commands, disabled, trusted, outcome, fire },
    put: async (path, text) => {
      const file = join(root, path)
      await mkdir(dirname(file), { recursive: true })
      await writeFile(file, text)
      return file
    },
    call: async (name, args) => {
      const { content, isError } = await outcome(name, args)
      return `${isError ? 'error: ' : ''}${content.map((part) => ('text' in part ? part.text : '')).join('')}`
    },
    taint: (name) => void outside.push(name),
    type: async (line, args = {}) => {
      const [name = '', ...words] = line.split(' ')
      const command = commands.get(name)!
      const typed = WITH_WORDS.has(name)
        ? { words, ...args }
        : name === 'skill'
          ? { name: words[0], words: words.slice(1).join(' '), ...args }
          : { words: words.join(' '), ...args }
      const result = await command.run(typed as never, { cwd: home.cwd, signal: new AbortController().signal, notice: () => undefined } as unknown as CommandContext)
      return (Array.isArray(result) ? result : [result]).map(shown).join('\n')
    },
    send: async (text) => {
      const event = { input: text, environment: { root: home.cwd }, notice: () => undefined }
      const added = (await fire('input', event)) as readonly ({ readonly after: readonly UserPart[] } | undefined)[]
      await fire('run-end', { status: 'completed' })
      return added.flatMap((parts) => parts?.after ?? [])
    },
    doctor: async () => (await check()).map(({ text }) => text),
    again: (more = {}) => sceneAt(root, { site, ...over, ...more }),
    settled: close,
    remove: async () => {
      await close()
      await rm(root, { recursive: true, force: true })
    },
  }
}

function shown(output: CommandOutput): string {
  switch (output.type) {
    case 'text':
      return output.text
    case 'table':
      return output.rows.length === 0 ? output.empty : output.rows.map(({ cells }) => cells.join(' | ')).join('\n')
    case 'change':
      return output.change.type === 'send' ? output.change.text : output.change.type
    case 'findings':
      return output.findings.map(({ level, text }) => `${level} ${text}`).join('\n')
    default:
      return output.type
  }
}

function setUp(extension: Extension, scratch: (key: string, create: () => unknown) => unknown) {
  const tools: Tool[] = []
  const commands = new Map<string, Command>()
  const hooks: (readonly [name: string, handler: (event: never) => unknown])[] = []
  let run: (() => Promise<readonly { readonly text: string }[]>) | null = null
  const close = extension.setup({
    tools: { add: (tool: Tool) => void tools.push(tool) },
    hooks: { on: (name: string, handler: (event: never) => unknown) => void hooks.push([name, handler]) },
    commands: {
      add: (command: Command) => {
        if (commands.has(command.name) || command.name === 'help') throw new Error('taken')
        commands.set(command.name, command)
        return { dispose: () => void commands.delete(command.name) }
      },
    },
    doctor: { check: (check: { run: typeof run }) => void (run = check.run) },
  } as never)
  return {
    ...{ tools, commands },
    fire: async (name: string, event: object) => {
      const session = { id: 's1', entries: [], prompt: () => ({ tools: [{ name: 'skill_view' }] }), state: { scratch } }
      const perRun = (_: string, create: () => unknown) => create()
      const whole = { agentPath: [], platform: 'cli', session, perRun, ...event }
      const results: unknown[] = []
      for (const [, handler] of hooks.filter(([at]) => at === name)) results.push(await handler(whole as never))
      return results
    },
    check: () => run!(),
    close: close as () => Promise<void>,
  }
}
