import { type Clock, systemClock } from '@hermes/contracts'
import { defineTool, type JsonSchema, type ToolResult } from '@hermes/contracts/tool'
import type { FromSchema } from 'json-schema-to-ts'
import { delegate } from '../delegation/delegate.js'
import type { ChildResult, ChildTask, Delegation } from '../delegation/delegation.js'

const task = {
  goal: { type: 'string' },
  context: { type: 'string' },
  toolsets: { type: 'array', items: { type: 'string' } },
  role: { type: 'string', enum: ['leaf', 'orchestrator'], default: 'leaf' },
} as const

const parameters = {
  type: 'object',
  properties: {
    ...task,
    goal: { ...task.goal, description: 'Complete: what to do and report' },
    tasks: {
      type: 'array',
      description: 'In place of goal',
      items: { type: 'object', properties: task, required: ['goal'] },
    },
    output_schema: { type: 'object' },
  },
} as const

/** What the tools of this package need. */
export interface AgentCoreToolServices {
  /** `null` for an agent that may not delegate. */
  readonly delegation: Delegation | null
  /** Default: the machine's. */
  readonly clock?: Clock
}

/** Hands tasks to fresh agents and gives back their answers. */
export const createDelegateTaskTool = ({ delegation, clock = systemClock }: AgentCoreToolServices) => {
  const limit = delegation?.limits.maxChildren ?? 0
  return defineTool<FromSchema<typeof parameters>>({
    name: 'delegate_task',
    toolset: 'delegation',
    description: `Hand a task to a fresh agent with a context of its own and wait for its answer; up to ${limit} tasks run side by side.
For work that is independent, or that would fill your context with detail: searching a large codebase, reviewing, comparing. Not for a step or two, and not for what needs the user.
It knows only what you write in goal and context. output_schema, a JSON Schema, gets data back. Its answer is its own word: check what matters.`,
    parameters,
    available: () => delegation !== null,
    effect: 'write',
    concurrency: 'exclusive',
    icon: '🪄',
    summarize: ({ goal, tasks }) => (tasks ? `delegate ${tasks.length} tasks` : `delegate: ${goal ?? ''}`),
    async execute(args, { signal, progress }) {
      if (!delegation) return { isError: true, text: 'Tasks cannot be delegated here. Do it yourself.' }
      const tasks = toTasks(args)
      const problem = problemOf(tasks, limit)
      if (problem !== null) return { isError: true, text: problem }
      const outputSchema = args.output_schema as JsonSchema | undefined
      const schema = outputSchema === undefined ? {} : { outputSchema }
      return render(await delegate(tasks, { delegation, signal, progress, clock, ...schema }))
    },
  })
}

function toTasks(args: FromSchema<typeof parameters>): readonly ChildTask[] {
  const given = args.tasks ?? (args.goal === undefined ? [] : [{ ...args, goal: args.goal }])
  return given.map(({ goal, context = '', toolsets, role }) => ({
    goal,
    context,
    role,
    ...(toolsets === undefined ? {} : { toolsets }),
  }))
}

function problemOf(tasks: readonly ChildTask[], limit: number): string | null {
  if (tasks.length === 0) return 'Give a goal, or a list of tasks.'
  if (tasks.some(({ goal }) => goal.trim() === '')) return 'Each task needs a goal.'
  if (tasks.length <= limit) return null
  return `${tasks.length} tasks are more than the ${limit} that run at a time. Send ${limit} now and the rest after them.`
}

function render(results: readonly ChildResult[]): ToolResult {
  const blocks = results.map((result, index) => {
    const title = results.length === 1 ? 'The task' : `Task ${index + 1}`
    const took = `${Math.round(result.durationMs / 1000)} s, ${result.toolCalls} tool calls`
    const problem = result.problem === undefined ? '' : ` ${result.problem}`
    return `${title} ${result.status} (${took}).${problem}\n${result.answer || '(no answer)'}`
  })
  return {
    data: results.map(({ isTainted: _, sessionId, toolCalls, durationMs, inputTokens, outputTokens, ...result }) => ({
      ...result,
      session_id: sessionId,
      tool_calls: toolCalls,
      duration_ms: durationMs,
      input_tokens: inputTokens,
      output_tokens: outputTokens,
    })),
    text: blocks.join('\n\n'),
    external: results.some((result) => result.isTainted),
    isError: results.every(({ status }) => status === 'failed' || status === 'interrupted'),
  }
}
