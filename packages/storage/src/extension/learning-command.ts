import { HermesError } from '@hermes/contracts'
import type { CommandResult, Extension } from '@hermes/contracts/extension'
import type { Learning } from '../learnings.js'
import type { Storage } from '../storage.js'

const VERBS = ['list', 'edit', 'remove']
const SHOWN = 100
const OWNER = { person: null } as const

/** Adds `/learning`, which `hermes learning` is too: past failures and what helped, those of the owner of the home. */
export function learningCommand({ storage }: { readonly storage: () => Promise<Storage> }): Extension {
  return {
    name: 'learning-command',
    setup(api) {
      api.commands.add({
        name: 'learning',
        summary: 'failures that were met, and what helped',
        usage: '[list [WORDS] | edit ID TEXT | remove ID]',
        duringRun: 'allowed',
        needsSession: false,
        parameters: {
          type: 'object',
          properties: {
            words: { type: 'array', items: { type: 'string' }, default: [], description: 'list, edit or remove' },
          },
        },
        complete: (words) => (words.length === 0 ? VERBS : []),
        run: async ({ words }) => run(await storage(), words as readonly string[]),
      })
    },
  }
}

async function run({ learnings }: Storage, [verb = 'list', ...rest]: readonly string[]): Promise<CommandResult> {
  if (verb === 'list') return list(await learnings.find({ ...OWNER, limit: SHOWN, query: rest.join(' ') }))
  const [name, ...words] = rest
  const id = Number(name?.replace(/^#/, ''))
  const text = words.join(' ').trim()
  if (!VERBS.includes(verb) || !Number.isSafeInteger(id) || (verb === 'edit') === (text === ''))
    throw new HermesError(
      `Unknown: /learning ${[verb, ...rest].join(' ')}. Use list [WORDS], edit ID TEXT or remove ID.`,
      {
        code: 'commands.usage',
      },
    )
  const isDone = verb === 'remove' ? await learnings.remove(id, OWNER) : await edited(learnings, id, text)
  if (!isDone)
    return { type: 'text', text: `There is no learning #${id}. All there are: hermes learning list`, isProblem: true }
  return { type: 'text', text: verb === 'remove' ? `Forgotten: #${id}` : `#${id} now says: ${text}` }
}

async function edited(learnings: Storage['learnings'], id: number, fix: string): Promise<boolean> {
  const { scanContext } = await import('@hermes/safety/scan')
  const [finding] = scanContext(fix)
  if (finding)
    throw new HermesError(
      `Not changed: it reads like an order to the agent (${finding.rule}). Say what helped in plain words.`,
      { code: 'commands.usage' },
    )
  return (await learnings.edit(id, { ...OWNER, fix })) !== null
}

function list(found: readonly Learning[]): CommandResult {
  const rows = found.map((learning) => {
    const { id, pattern, fix, timesUsed } = learning
    return { cells: [`#${id}`, timesUsed === 0 ? '' : `${timesUsed}×`, pattern, `→ ${fix}`], data: learning }
  })
  return { type: 'table', rows, empty: 'Nothing was learnt yet. What helps against a failure is kept by itself.' }
}
