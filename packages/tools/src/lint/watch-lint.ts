import { posix } from 'node:path'
import { errorLine } from '@hermes/contracts'
import type { ToolContext } from '@hermes/contracts/tool'
import type { ToolSettings } from '../settings.js'

/** One complaint about a file. */
interface Finding {
  readonly line: number
  readonly rule: string
  readonly message: string
}

/** A linter that projects bring along. */
interface Linter {
  readonly name: string
  readonly files: RegExp
  /** Names of files that say a project uses it. */
  readonly configs: readonly string[]
  /** Where its program is, below the folder of its configuration; the first that is there counts. */
  readonly programs: readonly string[]
  /** The words before the file. */
  readonly args: readonly string[]
  /** Errors in what it printed; warnings are left out. */
  readonly parse: (output: string) => readonly Finding[]
}

const SCRIPTS = /\.[cm]?[jt]sx?$/

/** In the order in which they are looked for: the fastest first. */
const LINTERS: readonly Linter[] = Object.freeze([
  {
    name: 'biome',
    files: /\.(?:[cm]?[jt]sx?|jsonc?|css|graphql)$/,
    configs: ['biome.json', 'biome.jsonc'],
    programs: ['node_modules/.bin/biome'],
    args: ['lint', '--reporter=github', '--colors=off'],
    parse: (output: string) =>
      [...output.matchAll(/^::error title=([^,]*),[^\n]*?line=(\d+),[^\n]*?::([^\n]*)$/gm)].map(
        ([, rule = '', line, message = '']) => ({ rule, line: Number(line), message: decodeWorkflow(message) }),
      ),
  },
  {
    name: 'eslint',
    files: SCRIPTS,
    configs: [
      ...['eslint.config.js', 'eslint.config.mjs', 'eslint.config.cjs', 'eslint.config.ts', 'eslint.config.mts'],
      ...['.eslintrc', '.eslintrc.js', '.eslintrc.cjs', '.eslintrc.json', '.eslintrc.yml', '.eslintrc.yaml'],
    ],
    programs: ['node_modules/.bin/eslint'],
    args: ['--format', 'json'],
    parse: parseEslint,
  },
  {
    name: 'ruff',
    files: /\.pyi?$/,
    configs: ['ruff.toml', '.ruff.toml', 'pyproject.toml'],
    programs: ['.venv/bin/ruff', 'venv/bin/ruff'],
    args: ['check', '--output-format', 'concise', '--no-fix', '--quiet'],
    parse: (output: string) =>
      [...output.matchAll(/^.+?:(\d+):\d+: (\S+?):? (?:\[\*\] )?(.+)$/gm)].map(([, line, rule = '', message = '']) => ({
        rule,
        line: Number(line),
        message,
      })),
  },
])

/** @see https://eslint.org/docs/latest/use/formatters/#json */
function parseEslint(output: string): readonly Finding[] {
  const start = output.indexOf('[{')
  if (start === -1) return []
  const files = JSON.parse(output.slice(start)) as readonly {
    readonly messages: readonly {
      readonly ruleId: string | null
      readonly severity: number
      readonly message: string
      readonly line?: number
    }[]
  }[]
  return files.flatMap(({ messages }) =>
    messages
      .filter(({ severity }) => severity === 2)
      .map(({ ruleId, message, line = 1 }) => ({ rule: ruleId ?? 'parse', message, line })),
  )
}

/** Percent, carriage return and line feed are written so in workflow commands. */
function decodeWorkflow(text: string): string {
  return text.replaceAll('%0A', ' ').replaceAll('%0D', '').replaceAll('%25', '%')
}

/** A file that is about to be written. */
interface WatchedFile {
  /** With links followed. */
  readonly real: string
  /** The version that is there; `null` for a new file. */
  readonly version: string | null
}

/** Says what the project's linter newly objects to, once the file is written; empty when there is nothing. Never rejects but on abort. */
type LintAfter = (version: string) => Promise<readonly string[]>

const SHOWN = 10
const MAX_REMEMBERED = 200
const OUTPUT_BYTES = 400_000
const NOTHING: LintAfter = async () => []

interface Lint {
  /** Linters that took too long, failed, or may not run: not tried again in this session. */
  readonly input: Set<string>
  /** Linters that are known not to have come with the repository. */
  readonly trusted: Set<string>
  /** What was found in a version of a file. */
  readonly found: Map<string, readonly Finding[]>
}

/** Looks at the file as it is, so that what is wrong with it already is not held against the write. */
export async function watchLint(context: ToolContext, settings: ToolSettings, file: WatchedFile): Promise<LintAfter> {
  if (!settings.lint) return NOTHING
  const found = await findLinter(context, file.real).catch(() => null)
  const lint = context.state.scratch('lint', (): Lint => ({ input: new Set(), trusted: new Set(), found: new Map() }))
  if (!found || lint.input.has(found.linter.name)) return NOTHING
  if (!(await isAllowed(context, settings, found))) return NOTHING
  const run = (version: string) => findings(context, settings, { found, lint, real: file.real, version })
  const before = file.version === null ? [] : await run(file.version)
  if (!before) return NOTHING
  return async (version) => {
    const after = await run(version)
    return after ? describe(found.linter.name, newOnes(before, after)) : []
  }
}

/**
 * A linter runs what its project says, so on this machine the project has to be one that the person trusts. They may come to that in the session, so it is asked
 * each time and said once.
 */
async function isAllowed(
  context: ToolContext,
  { trusts }: ToolSettings,
  { linter, root, programRoot }: FoundLinter,
): Promise<boolean> {
  if (trusts === undefined || context.environment.backend !== 'local') return true
  if ((await trusts(root)) && (programRoot === root || (await trusts(programRoot)))) return true
  const notified = context.state.scratch('lint-untrusted', () => new Set<string>())
  if (!notified.has(root))
    context.progress(`${linter.name} is not run: ${root} is not trusted. To trust it: /trust add`)
  notified.add(root)
  return false
}

interface LintRun {
  readonly found: FoundLinter
  readonly lint: Lint
  readonly real: string
  readonly version: string
}

/** `null` when the linter is of no use here; it is not asked again. */
async function findings(
  context: ToolContext,
  settings: ToolSettings,
  { found, lint, real, version }: LintRun,
): Promise<readonly Finding[] | null> {
  const key = `${real}\0${version}`
  const known = lint.found.get(key)
  if (known) return known
  try {
    const isTrusted = lint.trusted.has(found.program) || !(await isCommitted(context, found))
    if (isTrusted) lint.trusted.add(found.program)
    else context.progress(`${found.linter.name} came with the repository, so it is not run.`)
    const output = isTrusted ? await runLinter(context, settings.lintTimeoutMs, found, real) : null
    const all = output === null ? null : found.linter.parse(output)
    if (all) {
      if (lint.found.size >= MAX_REMEMBERED) lint.found.clear()
      lint.found.set(key, all)
      return all
    }
  } catch (error) {
    context.signal.throwIfAborted()
    context.progress(`${found.linter.name} does not run here: ${errorLine(error)}`)
  }
  lint.input.add(found.linter.name)
  return null
}

/** What the linter prints about the file; `null` when it took too long or could not run. */
async function runLinter(
  context: ToolContext,
  timeoutMs: number,
  { linter, root, program }: FoundLinter,
  real: string,
): Promise<string | null> {
  const { environment, signal } = context
  const command = [program, ...linter.args, real].map(quote).join(' ')
  const permit = await context.permit({ type: 'spawn', command, cwd: root, backend: environment.backend })
  const done = await environment.exec(permit, command, { cwd: root, timeoutMs, maxOutputBytes: OUTPUT_BYTES, signal })
  signal.throwIfAborted()
  // These linters end with 0 or 1; more means that they could not do their work.
  return done.timedOut || done.exitCode === null || done.exitCode > 1 ? null : done.output
}

/** Lines move with every edit, so that only rule and message tell complaints apart. */
function newOnes(before: readonly Finding[], after: readonly Finding[]): readonly Finding[] {
  const left = before.map(({ rule, message }) => `${rule}\0${message}`)
  return after.filter(({ rule, message }) => {
    const at = left.indexOf(`${rule}\0${message}`)
    if (at !== -1) left.splice(at, 1)
    return at === -1
  })
}

function describe(name: string, found: readonly Finding[]): readonly string[] {
  if (found.length === 0) return []
  const lines = found.slice(0, SHOWN).map(({ line, rule, message }) => `  line ${line}: ${message} (${rule})`)
  const more = found.length > SHOWN ? [`  and ${found.length - SHOWN} more`] : []
  return [`New errors of ${name}:`, ...lines, ...more]
}

/** A linter that the project of a file uses, and where it runs. */
interface FoundLinter {
  readonly linter: Linter
  /** The folder of its configuration. */
  readonly root: string
  /** The folder that has the program in its `node_modules` or the like. */
  readonly programRoot: string
  /** Absolute. */
  readonly program: string
}

const MAX_FOLDERS = 2_000
const CONFIG_NAMES = new Set(LINTERS.flatMap(({ configs }) => configs))
const STICKY = 0o1000
const WRITABLE_BY_ALL = 0o002

/** The first linter of the table that a folder above `path` is set up for, and whose program is there. */
async function findLinter(context: ToolContext, path: string): Promise<FoundLinter | null> {
  const fitting = LINTERS.filter(({ files }) => files.test(path))
  if (fitting.length === 0) return null
  const known = knownFolders(context)
  // A configuration that is written now counts from now on.
  if (CONFIG_NAMES.has(posix.basename(path))) known.clear()
  for (let folder = posix.dirname(path); ; folder = posix.dirname(folder)) {
    const configs = await configsIn(context, folder)
    const linter = fitting.find((one) => one.configs.some((name) => configs.includes(name)))
    if (linter) return (await isShared(context, folder)) ? null : locate(context, linter, folder)
    // What lies above a repository is not its project.
    if (configs.includes('.git') || folder === '/') return null
  }
}

const knownFolders = ({ state }: ToolContext) =>
  state.scratch('lint-folders', () => new Map<string, readonly string[]>())

async function configsIn(context: ToolContext, folder: string): Promise<readonly string[]> {
  const known = knownFolders(context)
  const before = known.get(folder)
  if (before) return before
  const entries = (await context.environment.list(folder)) ?? []
  const names = entries.map(({ name }) => name).filter((name) => name === '.git' || CONFIG_NAMES.has(name))
  if (known.size >= MAX_FOLDERS) known.clear()
  known.set(folder, names)
  return names
}

/** The program may be that of a folder further up, as in a workspace of several packages. */
async function locate(context: ToolContext, linter: Linter, root: string): Promise<FoundLinter | null> {
  const { environment } = context
  for (let folder = root; ; folder = posix.dirname(folder)) {
    for (const candidate of linter.programs) {
      const program = posix.join(folder, candidate)
      const stat = await environment.stat(await environment.realpath(program))
      if (stat?.type === 'file')
        return (await isShared(context, folder)) ? null : { linter, root, programRoot: folder, program }
    }
    if (folder === '/') return null
  }
}

/** A folder such as `/tmp`, where everybody puts files: what lies there is nobody's project. */
async function isShared({ environment }: ToolContext, folder: string): Promise<boolean> {
  const { mode = 0 } = (await environment.stat(folder)) ?? {}
  return (mode & STICKY) !== 0 && (mode & WRITABLE_BY_ALL) !== 0
}

/**
 * Whether git keeps the program: it came with the repository, and nobody here chose to run it. What was installed beside the repository
 * was trusted by whoever did that. Where git refuses to say, the repository is somebody else's, which counts as yes.
 */
async function isCommitted(context: ToolContext, { root, program }: FoundLinter): Promise<boolean> {
  const { environment, permit, signal } = context
  const repository = await repositoryOf(context, root)
  if (repository === null) return false
  const paths = [program, await environment.realpath(program)].filter((path) => path.startsWith(`${repository}/`))
  if (paths.length === 0) return false
  const command = `git -c core.fsmonitor=false ls-files -- ${paths.map(quote).join(' ')}`
  const spawnPermit = await permit({ type: 'spawn', command, cwd: repository, backend: environment.backend })
  const { exitCode, output } = await environment.exec(spawnPermit, command, { cwd: repository, signal })
  signal.throwIfAborted()
  return exitCode === 0 ? output.trim() !== '' : exitCode !== NO_SUCH_PROGRAM
}

const NO_SUCH_PROGRAM = 127

async function repositoryOf(context: ToolContext, root: string): Promise<string | null> {
  for (let folder = root; ; folder = posix.dirname(folder)) {
    if ((await configsIn(context, folder)).includes('.git')) return folder
    if (folder === '/') return null
  }
}

/** A word for a shell. */
function quote(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`
}
