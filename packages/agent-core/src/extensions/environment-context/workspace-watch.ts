import { basename, join, relative } from 'node:path/posix'
import type { Environment } from '@hermes/contracts/environment'
import type { HookEvent } from '@hermes/contracts/extension'
import { seenFiles } from '@hermes/contracts/tool'
import { isWithin } from '@hermes/safety'
import { blockedContext, scanContext } from '@hermes/safety/scan'
import { cutHeadTail } from '../../prompt/layers.js'
import type { EnvironmentContext } from './environment-context.js'

const HINT_FILES = ['.hermes.md', 'HERMES.md', 'AGENTS.md', 'agents.md', 'CLAUDE.md', 'claude.md', '.cursorrules']
const HINT_CHARS = 8_000
const MAX_HINT_BYTES = 64_000
const MAX_HINTS = 4
const WATCHED = 64
const WATCHED_REMOTE = 8
const NAMED = 10
const NOISE =
  /(?:^|\/)(?:\.git|\.hg|\.svn|node_modules|__pycache__|\.venv|venv|\.cache|\.idea|\.vscode)\/|\.(?:log|tmp|swp|pyc|lock)$|~$/

/**
 * The instructions that lie in folders entered for the first time, as text for the end of a result. Read with leave like any file,
 * checked for injection; what is in the conversation already is not said again.
 */
export async function folderHints(
  context: HookEvent,
  location: { readonly folders: readonly string[]; readonly root: string },
): Promise<readonly string[]> {
  const hints: string[] = []
  for (const folder of location.folders) {
    const path = await hintFile(context.environment!, folder)
    const text = path === null ? null : await readHint(context, path, location)
    if (text === null || text.trim() === '') continue
    const name = relative(location.root, path!)
    const hint = `[Instructions for work in ${relative(location.root, folder)}, from ${name}:]\n\n${checked(name, text)}`
    if (!isShown(context, hint)) hints.push(hint)
    if (hints.length === MAX_HINTS) break
  }
  return hints
}

async function hintFile(environment: Environment, folder: string): Promise<string | null> {
  const entries = await environment.list(folder).catch(() => null)
  const names = new Set(entries?.filter(({ type }) => type === 'file' || type === 'link').map(({ name }) => name))
  const name = HINT_FILES.find((candidate) => names.has(candidate))
  return name === undefined ? null : join(folder, name)
}

/** `null` where there is no permit, and for what leads out of the workspace or is no text. */
async function readHint(context: HookEvent, path: string, { root }: { readonly root: string }): Promise<string | null> {
  const environment = context.environment!
  try {
    const real = await environment.realpath(path)
    if (!isWithin(real, await environment.realpath(root))) return null
    await context.permit({ type: 'read', path: real, backend: environment.backend }, { toolName: 'read_file' })
    const bytes = await environment.read(real, { length: MAX_HINT_BYTES, noLinks: true })
    return bytes === null || bytes.includes(0) ? null : new TextDecoder().decode(bytes)
  } catch {
    context.signal.throwIfAborted()
    return null
  }
}

function checked(name: string, text: string): string {
  const findings = scanContext(text)
  return findings.length > 0 ? blockedContext(basename(name), findings) : cutHeadTail(text.trim(), HINT_CHARS)
}

/** A session that goes on in a new process was told before. */
function isShown({ session }: HookEvent, hint: string): boolean {
  return session.messages().some(({ content }) => content.some((part) => part.type === 'text' && part.text === hint))
}

/** A line on files that somebody else changed since the session saw them; each version is told once. */
export async function changedFiles(context: HookEvent, around: EnvironmentContext): Promise<readonly string[]> {
  const environment = context.environment!
  const watched = [...seenFiles(context.session.state)]
    .slice(around.isRemote ? -WATCHED_REMOTE : -WATCHED)
    .filter(([path]) => !NOISE.test(path))
  const looks = await Promise.all(watched.map(([path, version]) => look(environment, around, { path, version })))
  const changes = looks.filter((change) => change !== null)
  if (changes.length === 0) return []
  const names = changes
    .slice(0, NAMED)
    .map(({ path, isGone }) => `${nameOf(path, around.root)}${isGone ? ' (gone)' : ''}`)
  const more = changes.length > NAMED ? ` and ${changes.length - NAMED} more` : ''
  return [
    `[Changed by somebody else since you last saw them: ${names.join(', ')}${more}. Read them again before you rely on them.]`,
  ]
}

interface Change {
  readonly path: string
  readonly isGone: boolean
}

async function look(
  environment: Environment,
  around: EnvironmentContext,
  { path, version }: { readonly path: string; readonly version: string },
): Promise<Change | null> {
  const stat = await environment.stat(path).catch(() => undefined)
  if (stat === undefined) return null
  const now = stat?.version ?? null
  if (now === version || (around.notified.has(path) && around.notified.get(path) === now)) return null
  around.notified.set(path, now)
  return stat !== null && around.isOwn(stat.modifiedMs) ? null : { path, isGone: stat === null }
}

const nameOf = (path: string, root: string) => (isWithin(path, root) ? relative(root, path) : path)
