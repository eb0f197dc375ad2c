import { basename } from 'node:path'
import { rootOfHome } from '@hermes/config'
import { type Clock, errorLine, knownTimeZone } from '@hermes/contracts'
import type { CommandContext, CommandRow, Extension } from '@hermes/contracts/extension'
import { dollars, periodOf, shortNumber } from '@hermes/models/spending'
import type { Runtime } from '../runtime.js'

interface StatusHome {
  readonly home: string
  readonly clock: Clock
}

/** Adds `/status`, which `hermes status` is too: where things stand, without asking any server. */
export function statusCommand(runtime: () => Runtime, of: StatusHome): Extension {
  return {
    name: 'status-command',
    setup(api) {
      api.commands.add({
        name: 'status',
        summary: 'where things stand, and what waits for you',
        duringRun: 'allowed',
        needsSession: false,
        run: async (_, context) => ({
          type: 'table',
          rows: [...(await sessionRows(context)), ...(await homeRows(runtime(), of, context))],
          empty: '',
        }),
      })
    },
  }
}

const row = (name: string, value: string): CommandRow => ({ cells: [name, value], data: { name, value } })

async function sessionRows({ session }: CommandContext): Promise<readonly CommandRow[]> {
  if (!session) return []
  const title = await session.title()
  const messages = session.entries().filter(({ type }) => type === 'message').length
  const tasks = session.tasks.list().filter(({ endedAtMs }) => endedAtMs === null).length
  const { reasoningEffort: effort, serviceTier: tier } = session
  return [
    row('session', `${session.id}${title === null ? '' : `, ${title}`}`),
    row(
      'now',
      `${session.isBusy ? 'working' : 'waiting for you'}, ${messages} messages, ${tasks} delegated tasks at work`,
    ),
    row(
      'answers',
      `${session.model} at ${session.provider}${effort === null ? '' : `, ${effort} effort`}${tier === null || tier === 'standard' ? '' : `, ${tier}`}`,
    ),
    row('works in', session.cwd),
  ]
}

async function homeRows(
  runtime: Runtime,
  { home, clock }: StatusHome,
  { session, cwd }: CommandContext,
): Promise<readonly CommandRow[]> {
  const { config, problems } = runtime
  const storage = await runtime.storage()
  const [stats, waiting, spent] = await Promise.all([
    storage.maintenance.stats(),
    storage.approvals.pending(),
    today(runtime, clock),
  ])
  const trust = await runtime.trust.look(session?.cwd ?? cwd).catch(() => null)
  return [
    row('profile', `${rootOfHome(home) === home ? 'default' : basename(home)} in ${home}`),
    row('model', describeModel(runtime)),
    row('terminal', `${config.terminal.backend}, isolation ${config.terminal.isolation}`),
    row('approvals', config.approvals.mode),
    ...(trust === null ? [] : [row('project', `${trust.folder}, ${trust.state}`)]),
    row('memory', runtime.memory === null ? 'off' : (runtime.longMemory?.provider ?? 'files')),
    row('sessions', `${stats.sessions}, ${stats.messages} messages`),
    row('today', spent),
    row('waits', waiting.length === 0 ? 'nothing' : `${waiting.length} for an answer: hermes approvals`),
    row(
      'problems',
      problems.length === 0 ? 'none known; hermes doctor looks closer' : `${problems.length}: hermes doctor`,
    ),
  ]
}

function describeModel(runtime: Runtime): string {
  try {
    const { model, provider, apiKey } = runtime.chooseModel({})
    return `${model} at ${provider}${apiKey ? ', key found' : ''}`
  } catch (error) {
    return errorLine(error)
  }
}

async function today(runtime: Runtime, clock: Clock): Promise<string> {
  const timeZone = knownTimeZone(runtime.config.timezone)
  const sinceMs = periodOf('day', clock.now(), timeZone).startMs
  const [total] = await (await runtime.storage()).usage.totals({ sinceMs })
  const { calls, knownCostUsd, unpricedCalls, usage } = total!
  const counted = `${calls} ${calls === 1 ? 'call' : 'calls'}, ${shortNumber(usage.inputTokens + usage.outputTokens)} tokens`
  if (calls > 0 && unpricedCalls === calls) return `${counted}, cost unknown`
  return `${counted}, ${dollars(knownCostUsd)}${unpricedCalls === 0 ? '' : `, ${unpricedCalls} of unknown cost`}`
}
