import type { Action } from '@hermes/contracts/policy'
import { defineTool, type ToolContext, type ToolPlanContext, type ToolResult } from '@hermes/contracts/tool'
import type { FromSchema } from 'json-schema-to-ts'
import { readAction, writeAction } from './files/file-access.js'
import { applyPatch } from './patch/apply-patch.js'
import { operationActions, operationPaths } from './patch/operation-actions.js'
import { type PatchOperation, parsePatch } from './patch/parse-patch.js'
import { replaceInFile } from './patch/replace.js'
import { failure } from './result-text.js'
import { defaultToolSettings, type ToolSettings } from './settings.js'

const parameters = {
  type: 'object',
  properties: {
    mode: { type: 'string', enum: ['replace', 'patch'] },
    path: { type: 'string' },
    old_string: {
      type: 'string',
      description: 'As in the file, unique in it',
    },
    new_string: { type: 'string', description: 'Empty deletes' },
    replace_all: { type: 'boolean', default: false },
    patch: {
      type: 'string',
      description:
        'Per file *** Update File: p, *** Add File: p, *** Delete File: p, *** Move File: a -> b; hunks: @@ line above @@, then lines led by space, - or +',
    },
  },
} as const

type Args = FromSchema<typeof parameters>

/** Changes files: replaces a piece of one, found by its content, or applies a patch to several. */
export const createPatchTool = (settings: ToolSettings = defaultToolSettings) =>
  defineTool<Args>({
    name: 'patch',
    toolset: 'file',
    description:
      'Change files; read them first. Mode replace: old_string becomes new_string in path. Mode patch: several edits or files, all or none. Slips in whitespace match; an unsure or repeated match changes nothing.',
    parameters,
    concurrency: 'path',
    icon: '🔧',
    paths: (args, context) => operationPaths(operationsOf(args), context),
    actions: actionsOf,
    summarize: (args) => `patch ${isPatch(args) ? operationsOf(args).map(nameOf).join(', ') : (args.path ?? '')}`,
    execute: (args, context) => patch(args, context, settings),
  })

/** A patch that comes without its mode is meant as one. */
const isPatch = (args: Args): boolean =>
  (args.mode ?? (args.patch && !args.old_string ? 'patch' : 'replace')) === 'patch'

const nameOf = (operation: PatchOperation): string =>
  operation.type === 'move' ? `${operation.from} -> ${operation.to}` : operation.path

function operationsOf(args: Args): readonly PatchOperation[] {
  if (!isPatch(args)) return args.path ? [{ type: 'update', path: args.path, hunks: [] }] : []
  const parsed = parsePatch(args.patch ?? '')
  return parsed.type === 'parsed' ? parsed.operations : []
}

function actionsOf(args: Args, context: Pick<ToolPlanContext, 'environment'>): readonly Action[] {
  if (isPatch(args)) return operationsOf(args).flatMap((operation) => operationActions(operation, context))
  return args.path ? [readAction(context, args.path), writeAction(context, args.path)] : []
}

async function patch(args: Args, context: ToolContext, settings: ToolSettings): Promise<ToolResult> {
  const work = () => change(args, context, settings)
  const paths = operationPaths(operationsOf(args), context)
  return settings.sharedFiles?.alone(context, paths, work) ?? work()
}

async function change(args: Args, context: ToolContext, settings: ToolSettings): Promise<ToolResult> {
  if (isPatch(args)) return applyPatch(args.patch ?? '', context, settings)
  const { path, old_string, new_string, replace_all } = args
  if (!path || old_string === undefined || new_string === undefined)
    return failure('Mode replace needs path, old_string and new_string; mode patch needs patch.')
  return replaceInFile({ path, old_string, new_string, replace_all }, context, settings)
}
