import { HermesError } from '@hermes/contracts'
import type { Command, CommandContext, CommandResult, Finding } from '@hermes/contracts/extension'
import type { HomeHooks, ListedHook } from './home-hooks.js'

const VERBS = ['list', 'accept', 'revoke', 'test', 'doctor']

/** `/hooks`, which `hermes hooks` is too. */
export function hooksCommand(hooks: HomeHooks): Command {
  return {
    name: 'hooks',
    summary: 'programs that run at events: list, agree to, try them',
    usage: '[accept [N…] | revoke [COMMAND] | test N | doctor]',
    duringRun: 'allowed',
    needsSession: false,
    parameters: {
      type: 'object',
      properties: {
        words: { type: 'array', items: { type: 'string' }, default: [], description: VERBS.join(', ') },
      },
    },
    complete: (words) => (words.length === 0 ? VERBS : []),
    run: ({ words }, context) => run(hooks, words as readonly string[], context),
  }
}

async function run(
  hooks: HomeHooks,
  [verb = 'list', ...rest]: readonly string[],
  { cwd, session, signal }: CommandContext,
): Promise<CommandResult> {
  const folder = session?.cwd ?? cwd
  switch (verb) {
    case 'list':
      return list(hooks, folder)
    case 'accept': {
      const agreed = await hooks.agree(folder, rest.length === 0 ? undefined : rest.map(numberOf))
      if (agreed.length === 0) return problem('No hook of this folder waits for your consent: hermes hooks list')
      return text([`Agreed to, as they are now:`, ...agreed.map((one) => `  ${nameOf(one)}`)].join('\n'))
    }
    case 'revoke': {
      const gone = await hooks.revoke(rest.length === 0 ? null : rest.join(' '))
      return gone === 0 ? problem('Nothing like that was agreed to: hermes hooks list') : text(`${gone} taken back.`)
    }
    case 'test':
      return test(hooks, folder, numberOf(rest[0] ?? ''), signal)
    case 'doctor':
      return { type: 'findings', findings: await findings(hooks, folder) }
    default:
      throw usage(`There is no /hooks ${verb}: ${VERBS.join(', ')}.`)
  }
}

async function list(hooks: HomeHooks, folder: string): Promise<CommandResult> {
  const { set, hooks: listed } = await hooks.list(folder)
  const rows = listed.map(({ number, hook, consent }) => ({
    cells: [String(number), hook.event, CONSENT[consent], hook.command],
    isDim: consent === 'unknown',
    data: {
      ...{ number, event: hook.event, command: hook.command, consent, source: hook.source, project: hook.project },
      matcher: hook.matcher?.source ?? null,
      timeout: hook.timeoutMs / 1_000,
    },
  }))
  const lines = [
    ...(set.untrusted.length > 0
      ? [`Not trusted, so left out: ${set.untrusted.join(', ')}. To trust the project: hermes trust add`]
      : []),
    ...set.problems,
  ]
  const empty = 'No hooks yet. They are written in config.yaml (hooks), or come with a project that you trust.'
  return [{ type: 'table', rows, empty }, ...(lines.length === 0 ? [] : [text(lines.join('\n'))])]
}

const CONSENT = { agreed: 'runs', changed: 'changed, waits for you', unknown: 'waits for you' } as const

async function test(hooks: HomeHooks, folder: string, number: number, signal: AbortSignal): Promise<CommandResult> {
  const tested = await hooks.test(folder, number, signal)
  if (tested === null) return problem(`There is no hook ${number} here: hermes hooks list`)
  const {
    run: { exitCode, stdout, stderr },
    answer,
  } = tested
  const reply = Object.entries(answer).map(
    ([what, value]) => `  ${what}: ${typeof value === 'string' ? value : JSON.stringify(value)}`,
  )
  const lines = [
    `Exit code ${exitCode ?? 'none'}.`,
    ...(stdout.trim() === '' ? [] : [`Output: ${stdout.trim()}`]),
    ...(stderr.trim() === '' ? [] : [`Errors: ${stderr.trim()}`]),
    ...(reply.length === 0 ? ['It has no objection.'] : ['It means:', ...reply]),
  ]
  return { type: 'text', text: lines.join('\n'), isProblem: answer.failure !== undefined }
}

/** What stands in the way of hooks of a folder. */
export async function findings(hooks: HomeHooks, folder: string): Promise<readonly Finding[]> {
  const { set, hooks: listed } = await hooks.list(folder)
  const ofHooks = listed.flatMap((one): readonly Finding[] => [
    ...(one.problem === null
      ? []
      : [warning(`${nameOf(one)} does not work: ${one.problem} To try it: hermes hooks test ${one.number}`)]),
    ...(one.consent === 'agreed'
      ? one.problem === null
        ? [{ level: 'ok', text: nameOf(one) } as const]
        : []
      : [waiting(one)]),
  ])
  const untrusted = set.untrusted.map((path) =>
    warning(`${path} has hooks, and the project is not trusted. Run: hermes trust add`),
  )
  return [...ofHooks, ...untrusted, ...set.problems.map(warning)]
}

const warning = (line: string): Finding => ({ level: 'warn', text: line })

function waiting(one: ListedHook): Finding {
  const why = one.consent === 'changed' ? 'has changed since you agreed to it' : 'waits for your consent'
  return warning(`${nameOf(one)} ${why}. Run: hermes hooks accept ${one.number}`)
}

const nameOf = ({ hook }: ListedHook) => `${hook.event}: ${hook.command}`

function numberOf(word: string): number {
  if (!/^\d+$/.test(word)) throw usage(`${JSON.stringify(word)} is no number of a hook: hermes hooks list`)
  return Number(word)
}

const usage = (line: string) => new HermesError(line, { code: 'commands.usage' })
const text = (line: string) => ({ type: 'text', text: line }) as const
const problem = (line: string) => ({ type: 'text', text: line, isProblem: true }) as const
