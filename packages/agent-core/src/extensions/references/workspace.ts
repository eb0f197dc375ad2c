import { join, relative } from 'node:path/posix'
import { HermesError } from '@hermes/contracts'
import { type AudioPart, audioType, type ImagePart, imageType, MAX_IMAGE_BYTES } from '@hermes/contracts/conversation'
import type { Environment } from '@hermes/contracts/environment'
import type { HookEvent } from '@hermes/contracts/extension'
import type { Action, Permit } from '@hermes/contracts/policy'
import { seenFiles } from '@hermes/contracts/tool'
import { isWithin, openUntrustedGit, PLAIN_DIFF } from '@hermes/safety'
import { startedIn } from '../../prompt/started-in.js'
import type { ReferenceOptions } from './options.js'
import type { LineRange, Reference } from './parse.js'

type AskPermit = (action: Action) => Promise<Permit>

const MAX_FILE_BYTES = 1_000_000
/** A range may lie in a larger file. */
const MAX_RANGE_BYTES = 20_000_000
/** Where the kind of an image or a recording stands. */
const MEDIA_HEAD = { offset: 0, length: 12, noLinks: true }
const MAX_ENTRIES = 200
const MAX_FOLDERS = 60
const GIT_TIMEOUT_MS = 20_000
const GIT_OUTPUT_BYTES = 200_000
const SKIPPED = new Set(['.git', '.hg', '.svn', 'node_modules', '__pycache__', '.venv', 'venv', '.cache', '.turbo'])
const GIT = 'git --no-pager'
/** Outside of one a diff is between two files, of which git tells all the options. */
const NO_REPOSITORY = /not a git repository|^usage: git diff --no-index/im

/** A file of the workspace, or some lines of it; the text of a document, an image or a recording as it is; a folder gives its list. */
export async function readFile(
  context: HookEvent,
  { path, lines }: { readonly path: string; readonly lines: LineRange | null },
  { permit, readDocument }: Pick<ReferenceOptions, 'readDocument'> & { readonly permit: AskPermit },
): Promise<string | ImagePart | AudioPart> {
  const { environment, real, name } = await openPlace(context, path, permit)
  const stat = await environment.stat(real)
  if (!stat) throw refusal('there is no such file')
  if (stat.type === 'directory') return list(environment, real)
  if (stat.type !== 'file') throw refusal('it is no regular file')
  const head = (await environment.read(real, MEDIA_HEAD)) ?? new Uint8Array()
  const [image, audio] = [imageType(head), audioType(head)]
  const media = { real, name, sizeBytes: stat.sizeBytes }
  if (image !== null) return { type: 'image', ...(await readMedia(environment, { ...media, mediaType: image })) }
  if (audio !== null) return { type: 'audio', ...(await readMedia(environment, { ...media, mediaType: audio })) }
  const document = await readDocument?.({ real, stat }, context)
  if (typeof document === 'string') return lines ? linesOf(document, lines) : document
  const most = lines ? MAX_RANGE_BYTES : MAX_FILE_BYTES
  if (stat.sizeBytes > most)
    throw refusal(
      `it has ${stat.sizeBytes} bytes, more than ${most}; ${lines ? 'ask the agent to read these lines itself' : `name a range such as @file:${name}:1-200`}`,
    )
  const bytes = await environment.read(real, { noLinks: true })
  if (!bytes) throw refusal('there is no such file')
  const text = textOf(bytes)
  seenFiles(context.session.state).set(real, stat.version)
  return lines ? linesOf(text, lines) : text
}

async function readMedia(
  environment: Environment,
  media: { readonly real: string; readonly name: string; readonly mediaType: string; readonly sizeBytes: number },
): Promise<Omit<AudioPart, 'type'>> {
  const { real, name, mediaType, sizeBytes } = media
  if (sizeBytes > MAX_IMAGE_BYTES)
    throw refusal(`it is ${mediaType} of ${sizeBytes} bytes, more than ${MAX_IMAGE_BYTES}; make it smaller`)
  const bytes = await environment.read(real, { noLinks: true })
  if (!bytes) throw refusal('there is no such file')
  return { mediaType, data: Buffer.from(bytes).toString('base64'), name, origin: 'external' }
}

/** UTF-8, or UTF-16 where it is marked. */
function textOf(bytes: Uint8Array): string {
  const mark = ((bytes[0] ?? 0) << 8) | (bytes[1] ?? 0)
  if (mark === 0xfffe) return new TextDecoder('utf-16le').decode(bytes)
  if (mark === 0xfeff) return new TextDecoder('utf-16be').decode(bytes)
  if (bytes.includes(0)) throw refusal('it is no text')
  return new TextDecoder().decode(bytes)
}

function linesOf(text: string, { from, to }: LineRange): string {
  const all = text.replace(/\n$/, '').split('\n')
  if (from > all.length) throw refusal(all.length === 1 ? 'it has one line' : `it has ${all.length} lines`)
  return all.slice(from - 1, to).join('\n')
}

/** What is in a folder of the workspace and the folders in it, at most 200 names. */
export async function readFolder(context: HookEvent, path: string, permit: AskPermit): Promise<string> {
  const { environment, real } = await openPlace(context, path, permit)
  const stat = await environment.stat(real)
  if (stat?.type !== 'directory') throw refusal(stat ? 'it is a file; use @file:' : 'there is no such folder')
  return list(environment, real)
}

async function list(environment: Environment, root: string): Promise<string> {
  const names: string[] = []
  const open = [root]
  let folders = 0
  for (let folder = open.shift(); folder !== undefined && folders++ < MAX_FOLDERS; folder = open.shift()) {
    const entries = (await environment.list(folder)) ?? []
    for (const { name, type } of entries.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
      const isFolder = type === 'directory'
      names.push(`${relative(root, join(folder, name))}${isFolder ? '/' : ''}`)
      if (isFolder && !SKIPPED.has(name)) open.push(join(folder, name))
    }
    if (names.length > MAX_ENTRIES) break
  }
  const isCut = names.length > MAX_ENTRIES || open.length > 0
  return [...names.slice(0, MAX_ENTRIES), ...(isCut ? ['[… and more]'] : [])].join('\n')
}

/** Changes in git: not staged, staged, or those of the newest commits. */
export async function readGit(
  context: HookEvent,
  reference: Extract<Reference, { type: 'diff' | 'staged' | 'git' }>,
  permit: AskPermit,
): Promise<string> {
  const { environment, signal } = context
  if (!environment) throw refusal('there is no workspace')
  const cwd = startedIn(environment, context.session)
  const limits = { signal, timeoutMs: GIT_TIMEOUT_MS, maxOutputBytes: GIT_OUTPUT_BYTES }
  const git = openUntrustedGit({ environment, permit, limits })
  const { exitCode, output, timedOut } = await git(cwd, gitCommand(reference))
  signal.throwIfAborted()
  if (timedOut) throw refusal('git took too long')
  if (exitCode !== 0 && NO_REPOSITORY.test(output)) throw refusal('there is no git repository here')
  if (exitCode !== 0) throw refusal(output.trim().split('\n').at(-1) || `git ended with ${exitCode}`)
  return output.trim() === '' ? 'No changes.' : output
}

function gitCommand(reference: Extract<Reference, { type: 'diff' | 'staged' | 'git' }>): string {
  switch (reference.type) {
    case 'diff':
      return `${GIT} diff ${PLAIN_DIFF}`
    case 'staged':
      return `${GIT} diff --cached ${PLAIN_DIFF}`
    case 'git':
      // The form is named, as one that a repository sets may ask for signatures to be checked.
      return `${GIT} log -${reference.count} --format=medium --stat --patch ${PLAIN_DIFF}`
    default:
      return reference satisfies never
  }
}

/** A path of the workspace with links followed, once there is leave to read it. */
async function openPlace(
  { environment, session }: HookEvent,
  path: string,
  permit: AskPermit,
): Promise<{ readonly environment: Environment; readonly real: string; readonly name: string }> {
  if (!environment) throw refusal('there is no workspace')
  const root = startedIn(environment, session)
  const absolute = path.startsWith('/') || path.startsWith('~') ? environment.resolve(path) : join(root, path)
  const real = await environment.realpath(absolute)
  if (!isWithin(real, await environment.realpath(root))) throw refusal('it is outside the workspace')
  await permit({ type: 'read', path: real, backend: environment.backend })
  return { environment, real, name: relative(root, absolute) }
}

/** Why a reference is not attached, for the person who made it. */
export function refusal(reason: string): HermesError {
  return new HermesError(reason, { code: 'agent.reference_refused' })
}
