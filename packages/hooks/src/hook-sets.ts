// Which hooks there are for a folder: those of config.yaml and of files that it names, and those that the project brings.
import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { errorLine, isJsonObject } from '@hermes/contracts'
import { type HookDeclaration, type HookSource, type ReadHooks, readHookFile } from './declarations.js'
import type { HookForm } from './event-table.js'

/** The files of a project that hold hooks. */
const PROJECT_FILES: readonly { readonly path: string; readonly form: HookForm }[] = Object.freeze([
  { path: '.claude/settings.json', form: 'claude' },
  { path: '.claude/settings.local.json', form: 'claude' },
  { path: '.codex/hooks.json', form: 'codex' },
  { path: '.codex/config.toml', form: 'codex' },
])
const MAX_BYTES = 1_000_000

/** A project as far as its hooks are concerned. */
export interface HookProject {
  /** Its root. Absolute. */
  readonly folder: string
  readonly isTrusted: boolean
}

/** Where hooks are looked for. */
interface HookSetOptions {
  /** Those of config.yaml. */
  readonly own: ReadHooks
  /** Hook files of the person's own that config.yaml names. Absolute. */
  readonly files: readonly string[]
  /** Those of others that the person installed. */
  others?(): Promise<ReadHooks>
  project(folder: string): Promise<HookProject>
}

/** The hooks for a folder. */
export interface HookSet {
  readonly project: HookProject
  readonly hooks: readonly HookDeclaration[]
  /** What has no effect, a line each. */
  readonly problems: readonly string[]
  /** Files with hooks that do not count, since the project is not trusted. */
  readonly untrusted: readonly string[]
}

/** Reads the hooks that count in a folder. Nothing of a project that is not trusted is read further than to see whether it has hooks. */
export async function loadHookSet(folder: string, { own, files, others, project }: HookSetOptions): Promise<HookSet> {
  const named = await Promise.all(files.map((path) => readSource({ source: path, form: formOf(path), project: null })))
  const brought = (await others?.()) ?? EMPTY
  const place = await project(folder).catch(() => ({ folder, isTrusted: false }))
  const there = await Promise.all(PROJECT_FILES.map(async (file) => ({ ...file, full: join(place.folder, file.path) })))
  const read = await Promise.all(
    there.map(({ full, form }) => readSource({ source: full, form, project: place.folder }, { mayMiss: true })),
  )
  const ofProject = read.filter(({ hooks, problems }) => hooks.length + problems.length > 0)
  const untrusted = place.isTrusted
    ? []
    : there.filter((_, at) => (read[at]?.hooks.length ?? 0) > 0).map(({ path }) => path)
  const counted = [own, ...named, brought, ...(place.isTrusted ? ofProject : [])]
  return {
    project: place,
    hooks: counted.flatMap(({ hooks }) => hooks),
    problems: counted.flatMap(({ problems }) => problems),
    untrusted,
  }
}

const EMPTY: ReadHooks = { hooks: [], outbound: [], problems: [] }

/** Codex has a file of its own for hooks; what else is named is written like Claude Code's settings. */
const formOf = (path: string): HookForm => (/(?:^|\/)\.codex\//.test(path) ? 'codex' : 'claude')

async function readSource(place: HookSource, { mayMiss = false } = {}): Promise<ReadHooks> {
  try {
    const { size } = await stat(place.source)
    if (size > MAX_BYTES)
      return { ...EMPTY, problems: [`${place.source} has ${size} bytes; its hooks have no effect.`] }
    const text = await readFile(place.source, 'utf8')
    return readHookFile(place.source.endsWith('.toml') ? await asJson(text) : text, place)
  } catch (error) {
    if (mayMiss && isMissing(error)) return EMPTY
    return { ...EMPTY, problems: [`The hooks of ${place.source} have no effect: ${errorLine(error)}.`] }
  }
}

/** Codex may have its hooks among its settings, and there what it thinks of their files too. */
async function asJson(toml: string): Promise<string> {
  const { parse } = await import('smol-toml')
  const hooks: unknown = parse(toml)['hooks']
  if (!isJsonObject(hooks)) return JSON.stringify({ hooks })
  const { state: _, ...events } = hooks
  return JSON.stringify({ hooks: events })
}

const isMissing = (error: unknown) => /^(?:ENOENT|ENOTDIR)$/.test(String((error as { code?: unknown }).code))
