import { posix } from 'node:path'
import type { Action, Permit } from '@hermes/contracts/policy'
import type { ToolContext, ToolPlanContext } from '@hermes/contracts/tool'
import { readAction, writeAction } from '../files/file-access.js'
import type { PatchOperation } from './parse-patch.js'

type Plan = Pick<ToolPlanContext, 'environment'>

/** The action of taking `path` away, or of giving it another name. */
const changeAction = ({ environment }: Plan, path: string, operation: 'remove' | 'rename'): Action => ({
  type: 'write',
  path: environment.resolve(path),
  operation,
  backend: environment.backend,
})

/**
 * Asks for a permit to take `path` away or to give it another name, where it says and where its folder is, and gives the path with the
 * links of its folder followed; one at its end is not.
 * @throws HermesError `policy.denied`.
 */
export async function permitChange(
  context: ToolContext,
  path: string,
  operation: 'remove' | 'rename',
): Promise<{ readonly permit: Permit; readonly real: string }> {
  const permit = await context.permit(changeAction(context, path, operation))
  const real = posix.join(await context.environment.realpath(posix.dirname(path)), posix.basename(path))
  return real === path
    ? { permit, real }
    : { permit: await context.permit(changeAction(context, real, operation)), real }
}

/** What an operation does, for a decision before anything is done. */
export function operationActions(operation: PatchOperation, context: Plan): readonly Action[] {
  switch (operation.type) {
    case 'update':
      return [readAction(context, operation.path), writeAction(context, operation.path)]
    case 'add':
      return [writeAction(context, operation.path)]
    case 'delete':
      return [changeAction(context, operation.path, 'remove')]
    case 'move':
      return [
        readAction(context, operation.from),
        changeAction(context, operation.from, 'rename'),
        writeAction(context, operation.to),
      ]
    default:
      return operation satisfies never
  }
}

/** The absolute paths that operations touch. */
export const operationPaths = (operations: readonly PatchOperation[], { environment }: Plan): readonly string[] =>
  operations
    .flatMap((operation) => (operation.type === 'move' ? [operation.from, operation.to] : [operation.path]))
    .map((path) => environment.resolve(path))
