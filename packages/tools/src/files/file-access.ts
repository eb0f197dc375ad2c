import type { Action, Permit } from '@hermes/contracts/policy'
import type { ToolContext, ToolPlanContext } from '@hermes/contracts/tool'

/** The action of reading `path`, as a plan and as what is asked for at run time. */
export const readAction = ({ environment }: Pick<ToolPlanContext, 'environment'>, path: string): Action => ({
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

/** Why a file must not be made at a path as the model gave it; `null` when it may. */
export async function misplaced({ environment }: ToolContext, path: string): Promise<string | null> {
  const name = OTHER_HOME.exec(path)?.[0]
  if (name === undefined || (await environment.stat(environment.resolve(name)))) return null
  return `${name} does not lead to a home folder here: give that folder as an absolute path. Nothing was written.`
}

/**
 * Asks for leave to read `path`, and what it links to, and gives the path with links followed.
 * @throws HermesError `policy.denied`.
 */
export async function permitRead(context: ToolContext, path: string): Promise<string> {
  const action = readAction(context, path)
  await context.permit(action)
  const real = await context.environment.realpath(context.environment.resolve(path))
  if (real !== context.environment.resolve(path)) await context.permit(readAction(context, real))
  return real
}

/**
 * Asks for leave to write `path`, and what it links to. Write to the path given back: it has no links, so a link stays one.
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
