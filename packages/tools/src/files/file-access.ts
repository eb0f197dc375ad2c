import { posix } from 'node:path'
import type { Environment } from '@hermes/contracts/environment'
import type { Action, Permit } from '@hermes/contracts/policy'
import type { ToolContext, ToolPlanContext } from '@hermes/contracts/tool'
import { changesLifecycle, changesMakeRuns, LATER_FILES } from '@hermes/safety'
import { CREDENTIAL_HEAD_BYTES, holdsCredential, isWorkFile } from '@hermes/safety/credentials'

/** The action of reading `path`, as a plan and as what is asked for at run time. */
export const readAction = (
  { environment }: Pick<ToolPlanContext, 'environment'>,
  path: string,
): Extract<Action, { type: 'read' }> => ({
  type: 'read',
  path: environment.resolve(path),
  backend: environment.backend,
})

/** The action of writing `path`. */
export const writeAction = ({ environment }: Pick<ToolPlanContext, 'environment'>, path: string): Action => ({
  type: 'write',
  path: environment.resolve(path),
  operation: 'write',
  backend: environment.backend,
})

/** `~name`: the home folder of somebody else to a shell, and a plain name where there is something of that name. */
const OTHER_HOME = /^~[A-Za-z_][\w.-]*(?=\/|$)/

/** What a byte that is no UTF-8 looks like in a name; the way back to the byte is lost. */
const LOST_BYTE = '\uFFFD'

/** Why a file must not be made at a path as the model gave it; `null` when it may. */
export async function misplaced({ environment }: ToolContext, path: string): Promise<string | null> {
  if (path.endsWith('/')) return `${path} names a folder: add the name of the file. Nothing was written.`
  const reason = strangeName(environment, environment.resolve(path))
  if (reason === null) return null
  const isThere = (await environment.stat(environment.resolve(OTHER_HOME.exec(path)?.[0] ?? path))) !== null
  return isThere ? null : `${reason} Nothing was written.`
}

/** Why an absolute path that leads nowhere probably is not what was meant; `null` when nothing is strange about it. */
export function strangeName(environment: Environment, path: string): string | null {
  if (path.includes(LOST_BYTE))
    return `${path}: ${LOST_BYTE} stands for bytes of the name that are no UTF-8, so that file tools cannot reach it. Use a command in terminal, with ? in place of each ${LOST_BYTE}.`
  const name = OTHER_HOME.exec(posix.relative(environment.cwd(), path))?.[0]
  return name === undefined
    ? null
    : `${name} does not lead to a home folder here: give that folder as an absolute path.`
}

/**
 * A line on a relative path, as the model gave it, that leads out of the workspace, as after `cd` into another checkout; `null` for any
 * other.
 */
export async function outsideNote(
  { environment }: Pick<ToolContext, 'environment'>,
  requested: string,
): Promise<string | null> {
  const { root } = environment
  if (root === undefined || /^[/~]/.test(requested)) return null
  const path = environment.resolve(requested)
  if (isInside(path, root) || isInside(await environment.realpath(path), await environment.realpath(root))) return null
  return `${path} is outside the workspace ${root}: relative paths start at ${environment.cwd()} now.`
}

/** A line on a file that is a link: another one was changed; `null` for any other. `real` is where `path` leads, links followed. */
export async function linkNote({ environment }: ToolContext, path: string, real: string): Promise<string | null> {
  if (real === path) return null
  const folder = await environment.realpath(posix.dirname(path))
  return real === posix.join(folder, posix.basename(path)) ? null : `${path} is a link: ${real} was written.`
}

/** Whether `path` is `folder` or lies in it; both absolute. */
export function isInside(path: string, folder: string): boolean {
  const way = posix.relative(folder, path)
  return way !== '..' && !way.startsWith('../')
}

/**
 * Asks for a permit to read `path`, and what it links to, and gives the path with links followed.
 * @throws HermesError `policy.denied`.
 */
export async function permitRead(context: ToolContext, path: string): Promise<string> {
  const action = readAction(context, path)
  await context.permit(action)
  const real = await context.environment.realpath(context.environment.resolve(path))
  if (real !== context.environment.resolve(path)) await context.permit(readAction(context, real))
  if (await holdsKeys(context, real)) await context.permit({ ...action, path: real, holdsKeys: true })
  return real
}

/** Whether a file of this machine's home folder, outside the workspace, begins like one of keys. `path` has no links. */
export async function holdsKeys({ environment }: Pick<ToolContext, 'environment'>, path: string): Promise<boolean> {
  const { backend, root } = environment
  if (backend !== 'local' || !isInside(path, environment.resolve('~'))) return false
  if (root !== undefined && isInside(path, root)) return false
  try {
    if ((await environment.stat(path))?.type !== 'file') return false
    const head = await environment.read(path, { length: CREDENTIAL_HEAD_BYTES, noLinks: true })
    return head !== null && holdsCredential(Buffer.from(head).toString('latin1'), { isWork: isWorkFile(path) })
  } catch {
    // Reading it will say why.
    return false
  }
}

/**
 * Asks once more where a `package.json` gets other install scripts or hooks, or a file that a Makefile includes runs something else. `path` has no
 * links.
 * @throws HermesError `policy.denied`.
 */
export async function permitLifecycle(context: ToolContext, path: string, after: string): Promise<void> {
  const { environment } = context
  const isManifest = posix.basename(path) === 'package.json'
  if (!isManifest && !environment.rememberFiles?.(LATER_FILES).isNamed(path)) return
  const old = (await environment.stat(path))?.type === 'file' ? await environment.read(path, { noLinks: true }) : null
  const changes = isManifest ? changesLifecycle : changesMakeRuns
  if (!changes(old ? Buffer.from(old).toString('utf8') : '', after)) return
  await context.permit({ type: 'write', path, operation: 'write', backend: environment.backend, runsLater: true })
}

/**
 * Asks for a permit to write `path`, and what it links to. Write to the path given back: it has no links, so a link stays one.
 * @throws HermesError `policy.denied`.
 */
export async function permitWrite(
  context: ToolContext,
  path: string,
): Promise<{ readonly permit: Permit; readonly real: string }> {
  const permit = await context.permit(writeAction(context, path))
  const real = await context.environment.realpath(context.environment.resolve(path))
  if (real === context.environment.resolve(path)) return { permit, real }
  return { permit: await context.permit(writeAction(context, real)), real }
}
