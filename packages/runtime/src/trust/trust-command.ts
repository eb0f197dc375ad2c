import type { FolderCover, TrustStore } from '@hermes/config'
import { HermesError } from '@hermes/contracts'
import type { CommandContext, CommandResult, Extension } from '@hermes/contracts/extension'
import { toPath } from '../home/settings.js'

const SHOWN_PATHS = 6
const VERBS = ['list', 'add', 'remove']

/** Adds `/trust`, which `hermes trust` is too: which projects the person trusts with what they bring. */
export function trustCommand(trust: TrustStore, { userHome }: { readonly userHome: string }): Extension {
  return {
    name: 'trust-command',
    setup(api) {
      api.commands.add({
        name: 'trust',
        summary: 'which projects may bring hooks, plugins, servers and linters',
        usage: '[add|remove [FOLDER]]',
        duringRun: 'allowed',
        needsSession: false,
        parameters: {
          type: 'object',
          properties: {
            words: { type: 'array', items: { type: 'string' }, default: [], description: 'list, add or remove' },
          },
        },
        complete: (words) => (words.length === 0 ? VERBS : []),
        run: ({ words }, context) => run(trust, words as readonly string[], { context, userHome }),
      })
    },
  }
}

async function run(
  trust: TrustStore,
  [verb = 'list', named, ...more]: readonly string[],
  { context, userHome }: { readonly context: CommandContext; readonly userHome: string },
): Promise<CommandResult> {
  if (!VERBS.includes(verb) || more.length > 0)
    throw new HermesError(
      `Unknown: /trust ${[verb, named, ...more].join(' ')}. Use list, add [FOLDER] or remove [FOLDER].`,
      {
        code: 'commands.usage',
      },
    )
  const folder = toPath(named ?? '.', userHome, context.cwd)
  if (verb === 'list') return list(trust, context.cwd)
  if (verb === 'add') {
    const cover = await trust.answer(folder, true)
    const later = context.caller.changes?.includes('reload')
      ? ['Commands of its skills, its plugins and its servers come with /reload.']
      : []
    const lines = [`Trusted: ${cover.folder}`, ...bringsLines(cover), ...later]
    return text([...lines, 'Another answer is needed when any of it changes.'])
  }
  const isGone = await trust.remove(folder)
  return isGone
    ? text([`No longer trusted: ${folder}`])
    : { type: 'text', text: `There is no answer about ${folder}. All there are: hermes trust list`, isProblem: true }
}

async function list(trust: TrustStore, cwd: string): Promise<CommandResult> {
  const here = await trust.look(cwd).catch(() => null)
  const others = (await trust.list()).filter(({ folder }) => folder !== here?.folder)
  const covers = await Promise.all(
    others.map(async (entry) => ({ entry, cover: await trust.look(entry.folder).catch(() => null) })),
  )
  const rows = covers.map(({ entry, cover }) => {
    const state = cover?.state ?? 'gone'
    return { cells: [entry.folder, state, new Date(entry.atMs).toISOString().slice(0, 10)], data: { ...entry, state } }
  })
  const ofHere = here
    ? [
        {
          cells: [here.folder, here.state, 'here'],
          isCurrent: true,
          data: { folder: here.folder, state: here.state, brings: here.brings, changed: here.changed },
        },
      ]
    : []
  const table = { type: 'table', rows: [...ofHere, ...rows], empty: 'No project is trusted yet.' } as const
  return here && here.brings.length > 0 ? [table, text([`${here.folder} brings:`, ...bringsLines(here)])] : table
}

/** What a project brings, a line for each kind; what changed since the answer is named. */
function bringsLines({ brings, changed }: Pick<FolderCover, 'brings' | 'changed'>): readonly string[] {
  const lines = brings.map(({ kind, paths }) => `  ${kind}: ${shortened(paths)}`)
  return [...lines, ...(changed.length > 0 ? [`  changed since the answer: ${shortened(changed)}`] : [])]
}

function shortened(paths: readonly string[]): string {
  const more = paths.length - SHOWN_PATHS
  return `${paths.slice(0, SHOWN_PATHS).join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}

const text = (lines: readonly string[]) => ({ type: 'text', text: lines.join('\n') }) as const
