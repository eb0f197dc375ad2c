import type { ToolResult } from '@hermes/contracts/tool'
import { defineTool } from '@hermes/contracts/tool'
import type { FromSchema } from 'json-schema-to-ts'
import { FROM_OUTSIDE, type Learning, type Learnings, OUTSIDE_TAG, type PersonFilter } from '../learnings.js'
import type { Storage } from '../storage.js'

const parameters = {
  type: 'object',
  properties: {
    action: { type: 'string', enum: ['save', 'search', 'list'] },
    pattern: { type: 'string', description: 'save: the telling part of the error message' },
    error_type: { type: 'string', description: 'save: the tool that failed; empty for any' },
    fix: { type: 'string', description: 'save: what helped, in one or two sentences' },
    context: { type: 'string', description: 'save: where it happened, why it helps' },
    tags: { type: 'array', items: { type: 'string' } },
    query: { type: 'string', description: 'search: words of the error' },
    limit: { type: 'integer', default: 10 },
  },
  required: ['action'],
} as const

type Args = FromSchema<typeof parameters>
type Theirs = Required<PersonFilter>

/** Keeps what helped against an error, and finds it again. */
export const createLearningTool = (services: StorageToolServices) =>
  defineTool<Args>({
    name: 'learning',
    toolset: 'learning',
    description:
      'Remember what fixed an error, so that it is not worked out twice. save after you found the fix of a failure that may come again; fixes that match are shown beside later failures by themselves. search or list what is known.',
    parameters,
    effect: 'write',
    concurrency: 'exclusive',
    icon: '🎓',
    summarize: ({ action, pattern, query }) => `${action} learning ${pattern ?? query ?? ''}`.trim(),
    execute: async (args, { sessionId, isTainted = false }) => {
      const storage = await services.storage()
      const person = await personOfSession(storage, sessionId)
      const { learnings } = storage
      return args.action === 'save'
        ? save(learnings, { ...args, person, isTainted })
        : show(learnings, { ...args, person })
    },
  })

async function save(
  learnings: Learnings,
  { person, isTainted, pattern = '', error_type, fix = '', context, tags = [] }: Args & Theirs & { isTainted: boolean },
): Promise<ToolResult> {
  if (pattern.trim() === '' || fix.trim() === '') return { text: 'save needs pattern and fix.', isError: true }
  const { scanContext } = await import('@hermes/safety/scan')
  const [finding] = scanContext(`${pattern}\n${fix}\n${context ?? ''}`)
  if (finding)
    return {
      text: `Not saved: line ${finding.line} reads like an instruction to you (${finding.rule}). Say what helped in plain words.`,
      isError: true,
    }
  const { learning, isMerged } = await learnings.save({
    person,
    pattern,
    fix,
    ...(error_type === undefined ? {} : { errorType: error_type }),
    ...(context === undefined ? {} : { context }),
    tags: [...tags.filter((tag) => tag !== OUTSIDE_TAG), ...(isTainted ? [OUTSIDE_TAG] : [])],
  })
  return isMerged
    ? `Saved over a similar learning, #${learning.id}, met ${learning.timesUsed + 1} times.`
    : `Saved as #${learning.id}.`
}

async function show(learnings: Learnings, { person, action, query, tags, limit }: Args & Theirs): Promise<ToolResult> {
  const tag = tags?.[0]
  const found = await learnings.find({
    person,
    limit: Math.min(Math.max(1, limit), 50),
    ...(action === 'search' && query !== undefined ? { query } : {}),
    ...(tag === undefined ? {} : { tag }),
  })
  if (found.length === 0) return 'Nothing is known about that yet.'
  const text = found.map(line).join('\n')
  return found.some(({ tags }) => tags.includes(OUTSIDE_TAG)) ? { text, external: true, sources: FROM_OUTSIDE } : text
}

function line({ id, pattern, errorType, fix, context, tags, timesUsed }: Learning): string {
  const facts = [errorType, ...tags.map((tag) => `#${tag}`), timesUsed > 0 ? `used ${timesUsed} times` : ''].filter(
    Boolean,
  )
  return [
    `#${id} ${pattern}${facts.length === 0 ? '' : ` (${facts.join(', ')})`}`,
    `  → ${fix}`,
    ...(context === '' ? [] : [`  ${context}`]),
  ].join('\n')
}

/** What the tools of this package need of a home. */
export interface StorageToolServices {
  /** The open store; asked for with the first call. */
  storage(): Promise<Storage>
}

/** Whom a session serves: what its tools find is theirs alone. One that is not stored yet has found nothing, and is the owner's. */
export async function personOfSession(storage: Pick<Storage, 'sessions'>, sessionId: string): Promise<string | null> {
  return (await storage.sessions.get(sessionId))?.person ?? null
}
