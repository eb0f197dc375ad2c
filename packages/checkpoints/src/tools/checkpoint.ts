import { defineTool } from '@hermes/contracts/tool'
import type { FromSchema } from 'json-schema-to-ts'
import type { CheckpointsToolServices } from './tool-services.js'
import { workspaceOf } from './workspace-of.js'

const parameters = {
  type: 'object',
  properties: { name: { type: 'string', description: 'What to call it, for restore' } },
} as const

/** Keeps the state of the workspace under a name. */
export const createCheckpointTool = (services: CheckpointsToolServices) =>
  defineTool<FromSchema<typeof parameters>>({
    name: 'checkpoint',
    toolset: 'checkpoints',
    description:
      'Keep the state of all files of the workspace, to come back to with restore: before you try something that may not work out. Does not touch git.',
    parameters,
    concurrency: 'exclusive',
    icon: '📌',
    summarize: ({ name }) => (name ? `checkpoint ${name}` : 'checkpoint'),
    async execute({ name }, context) {
      const opened = await services.checkpoints()
      const root = workspaceOf(context, opened)
      const run = await opened.runOf(context.sessionId)
      const label = name?.trim() || undefined
      const taken = await opened.checkpoints.take(root, {
        kind: 'manual',
        reason: 'asked for by the model',
        label,
        sessionId: context.sessionId,
        runId: run?.runId,
        undoFromSeq: run?.turnSeq ?? undefined,
        signal: context.signal,
      })
      if (run) opened.adopt(root, run.runId)
      const { number, files, skipped } = taken
      const left = Object.values(skipped).reduce((sum, count) => sum + count, 0)
      const without = left === 0 ? '' : ` Not kept: ${left} (folders that can be made again, files too large).`
      return {
        data: { number, ...(label === undefined ? {} : { name: label }), root, files },
        text: `Checkpoint ${number}${label === undefined ? '' : ` (${label})`} of ${root}: ${files} files.${without}`,
      }
    },
  })
