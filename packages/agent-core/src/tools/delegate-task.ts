import { type Clock, systemClock } from '@hermes/contracts'
import { defineTool, type JsonSchema, type ToolResult } from '@hermes/contracts/tool'
import type { FromSchema } from 'json-schema-to-ts'
import type { Handle } from '../delegation/background.js'
import type { ChildResult, ChildTask } from '../delegation/child-task.js'
import { ChildTree } from '../delegation/child-tree.js'
import type { Delegation } from '../delegation/delegation.js'
import { describeResult, resultData } from '../delegation/describe-result.js'

/** Tasks of one agent that run or wait for their turn. */
const MAX_UNFINISHED = 50

const task = {
  goal: { type: 'string' },
  context: { type: 'string' },
  toolsets: { type: 'array', items: { type: 'string' } },
  worktree: { type: 'boolean' },
} as const

const parameters = {
  type: 'object',
  properties: {
    ...task,
    role: { type: 'string', enum: ['leaf', 'orchestrator'], default: 'leaf' },
    background: { type: 'boolean' },
    tasks: {
      type: 'array',
      items: { type: 'object', properties: task, required: ['goal'] },
      'x-shown': {
        type: 'array',
        description: 'Instead; each has goal, context, toolsets, worktree',
        items: { type: 'object' },
      },
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
  const tree = delegation?.tree ?? new ChildTree({ clock })
  return defineTool<FromSchema<typeof parameters>>({
    name: 'delegate_task',
    toolset: 'delegation',
    description: `Hand a task to a fresh agent and wait for its answer; up to ${limit} side by side. For independent work, or what would fill your context: searching much code, reviewing. Not for a step or two, nor what needs the user.
It knows only goal and context: say what to do and report. worktree: own git branch, you merge. background: results come later. output_schema: JSON Schema, gives data. Its answer is its own word: check what matters.`,
    parameters,
    available: () => delegation !== null,
    effect: 'write',
    concurrency: 'exclusive',
    icon: '🪄',
    summarize: ({ goal, tasks }) => (tasks ? `delegate ${tasks.length} tasks` : `delegate: ${goal ?? ''}`),
    async execute(args, context) {
      const { signal, progress, mail, taintedBy = [] } = context
      if (!delegation) return { isError: true, text: 'Tasks cannot be delegated here. Do it yourself.' }
      const tasks = toTasks(args)
      const problem = problemOf(tasks, limit) ?? crowded(tree.unfinished(delegation.agentPath ?? ['root']).length)
      if (problem !== null) return { isError: true, text: problem }
      const outputSchema = args.output_schema as JsonSchema | undefined
      const schema = outputSchema === undefined ? {} : { outputSchema }
      const openWorktree = async () => (await import('../delegation/worktree.js')).openWorktree(context)
      const options = { delegation, tree, clock, openWorktree, taintedBy, ...schema }
      if (args.background && mail) {
        const { delegateInBackground } = await import('../delegation/background.js')
        return renderHandles(await delegateInBackground(tasks, { ...options, mail }))
      }
      const { delegate } = await import('../delegation/delegate.js')
      const note = args.background ? 'Nothing runs in the background here, so this was waited for.' : ''
      return render(await delegate(tasks, { ...options, signal, progress }), note)
    },
  })
}

function toTasks(args: FromSchema<typeof parameters>): readonly ChildTask[] {
  const input = args.tasks ?? (args.goal === undefined ? [] : [{ ...args, goal: args.goal }])
  return input.map(({ goal, context = '', toolsets, worktree = false }) => ({
    goal,
    context,
    role: args.role,
    worktree,
    ...(toolsets === undefined ? {} : { toolsets }),
  }))
}

function problemOf(tasks: readonly ChildTask[], limit: number): string | null {
  if (tasks.length === 0) return 'Give a goal, or a list of tasks.'
  if (tasks.some(({ goal }) => goal.trim() === '')) return 'Each task needs a goal.'
  if (tasks.length <= limit) return null
  return `${tasks.length} tasks are more than the ${limit} that run at a time. Send ${limit} now and the rest after them.`
}

function crowded(unfinished: number): string | null {
  if (unfinished < MAX_UNFINISHED) return null
  return `${unfinished} tasks are under way. Wait for results before you hand out more.`
}

function render(results: readonly ChildResult[], note = ''): ToolResult {
  const blocks = results.map((result, index) =>
    describeResult(results.length === 1 ? 'The task' : `Task ${index + 1}`, result),
  )
  const names = [...new Set(results.flatMap(({ taintedBy }) => taintedBy))]
  return {
    data: results.map(resultData),
    text: [...blocks, note].filter((block) => block !== '').join('\n\n'),
    external: names.length > 0,
    sources: [{ type: 'inherited', names }],
    isError: results.every(({ status }) => status === 'failed' || status === 'interrupted'),
  }
}

function renderHandles(handles: readonly Handle[]): ToolResult {
  const names = handles.map(({ handle }) => handle).join(', ')
  return {
    data: handles.map(({ handle, node }) => ({ handle, goal: node.task.goal, status: 'running' })),
    text: `Started in the background: ${names}. Each result will come to you by itself, once. Go on with other work, or end your turn.`,
  }
}
