import type { Action } from '@hermes/contracts/policy'
import type { ToolPlanContext } from '@hermes/contracts/tool'
import { readAction, writeAction } from '../files/file-access.js'
import type { PatchOperation } from './parse-patch.js'

type Plan = Pick<ToolPlanContext, 'environment'>

/** The action of taking `path` away, or of giving it another name. */
export const changeAction = ({ environment }: Plan, path: string, operation: 'remove' | 'rename'): Action => ({
  type: 'write',
  path: environment.resolve(path),
  operation,
  backend: environment.backend,
})

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
      return [changeAction(context, operation.from, 'rename'), writeAction(context, operation.to)]
    default:
      return operation satisfies never
  }
}

/** The absolute paths that operations touch. */
export const operationPaths = (operations: readonly PatchOperation[], { environment }: Plan): readonly string[] =>
  operations
    .flatMap((operation) => (operation.type === 'move' ? [operation.from, operation.to] : [operation.path]))
    .map((path) => environment.resolve(path))
