// The hooks of a home: which there are, whether a person agreed to them, and what they say at a point.
import { type Clock, errorLine, type JsonValue, type Logger } from '@hermes/contracts'
import type { Environment } from '@hermes/contracts/environment'
import { type HookAnswer, type HookRun, isUndecided, readAnswer } from './answer.js'
import { type ConsentState, openConsents } from './consent.js'
import { type HookDeclaration, type OutboundHook, type ReadHooks, readConfigHooks } from './declarations.js'
import { EVENTS, GATES, type RarePoint } from './event-table.js'
import { type HookProject, type HookSet, loadHookSet } from './hook-sets.js'
import { missingProgram } from './missing-program.js'
import { inputFor, isMeant, type Moment, textFor } from './moment.js'
import { createOutbound, isSent, type OutboundServices } from './outbound.js'
import { type ProgramServices, runProgram } from './run-program.js'

/** What the hooks of a home work with. */
interface HookServices extends Omit<ProgramServices, 'environment'>, OutboundServices {
  /** Where hooks run: this machine, as its person does. Asked with the first one. */
  environment(): Environment | Promise<Environment>
  /** Where consents are kept. Absolute. */
  readonly consentFile: string
  /** The section `hooks` of config.yaml, and the file for messages. */
  readonly section: JsonValue | undefined
  readonly configFile: string
  /** Hook files of the person's own. Absolute. */
  readonly files: readonly string[]
  /** Every hook runs without being agreed to. */
  readonly acceptsAll: boolean
  /** Hooks of others that the person installed. Default: none. */
  others?(): Promise<ReadHooks>
  project(folder: string): Promise<HookProject>
  readonly user: string
  /** The variable `PATH`, where programs are. */
  readonly path: string
  /** Takes the secrets of the home out of a text. */
  redact(text: string): string
  readonly clock: Clock
  readonly logger: Logger
}

/** What a point is reached with. */
interface Dispatch {
  readonly signal: AbortSignal
  /** Takes the secrets out that a session knows. Default: those of the home. */
  readonly redact?: (text: string) => string
  /** Tells the person. */
  notice(text: string): void
}

/** A hook as lists show it. */
export interface ListedHook {
  /** Tells it from the others of a folder: from 1. */
  readonly number: number
  readonly hook: HookDeclaration
  readonly consent: ConsentState
  /** Why it does not work, as far as that is known: its program is not there, or how it failed last in this process. */
  readonly problem: string | null
}

/** The hooks of a home. */
export interface HomeHooks {
  /** What hooks that are meant now say, in their order; those that nobody agreed to are left out. Never rejects. */
  dispatch(moment: Moment, dispatch: Dispatch): Promise<readonly HookAnswer[]>
  /** Whether any hook of config.yaml is to be told of a point that only those have events for. */
  wants(point: RarePoint): boolean
  /** Reads the files anew, and tells what stands in the way of hooks once. */
  refresh(folder: string, notice: (text: string) => void): Promise<void>
  list(folder: string): Promise<{ readonly set: HookSet; readonly hooks: readonly ListedHook[] }>
  /** Keeps a person's yes for hooks of a folder as they are now; all without `numbers`. Gives those it was new for. */
  agree(folder: string, numbers?: readonly number[]): Promise<readonly ListedHook[]>
  /** Takes back what was agreed to: a hook by its command, or everything. */
  revoke(command: string | null): Promise<number>
  /** Runs a hook of a folder with a made-up event. */
  test(
    folder: string,
    number: number,
    signal: AbortSignal,
  ): Promise<{ readonly run: HookRun; readonly answer: HookAnswer } | null>
  close(): Promise<void>
}

/** Opens the hooks of a home. Nothing is read or started before it is needed. */
export function openHooks(services: HookServices): HomeHooks {
  const { section, configFile, files, others, project, logger } = services
  const own = withoutUnsigned(readConfigHooks(section, configFile), services)
  const consents = openConsents(services.consentFile)
  const outbound = createOutbound(own.outbound, services)
  const sets = new Map<string, Promise<HookSet>>()
  const notified = new Set<string>()
  /** How hooks failed that have not worked since. */
  const failures = new Map<string, string>()
  let opened: Promise<Environment> | null = null
  const programs: ProgramServices = {
    ...services,
    environment: () => {
      opened ??= Promise.resolve(services.environment())
      return opened
    },
  }
  const load = (folder: string) => {
    const set = loadHookSet(folder, { own, files, project, ...(others ? { others } : {}) })
    sets.set(folder, set)
    return set
  }
  const setOf = (folder: string) => sets.get(folder) ?? load(folder)
  const placesOf = (hook: HookDeclaration, set: HookSet) => ({
    userHome: services.userHome,
    folder: hook.project ?? set.project.folder,
  })
  const stateOf = async (hook: HookDeclaration, set: HookSet): Promise<ConsentState> =>
    services.acceptsAll ? 'agreed' : consents.state(hook, placesOf(hook, set))
  const listOf = async (folder: string) => {
    const set = await load(folder)
    const hooks = await Promise.all(
      set.hooks.map(async (hook, at) => {
        const missing = await missingProgram(hook, { ...placesOf(hook, set), path: services.path })
        const problem =
          missing === null ? (failures.get(keyOf(hook)) ?? null) : `${missing} is no program that can be run.`
        return { number: at + 1, hook, consent: await stateOf(hook, set), problem }
      }),
    )
    return { set, hooks }
  }
  const runHook = async (
    hook: HookDeclaration,
    set: HookSet,
    moment: Moment,
    { signal, redact = services.redact }: Omit<Dispatch, 'notice'>,
  ) => {
    const folder = hook.project ?? set.project.folder
    return runProgram(programs, {
      ...hook,
      cwd: set.project.folder,
      env: {
        ...hook.variables,
        HERMES_PROJECT_DIR: folder,
        HERMES_SESSION_ID: moment.sessionId,
        ...(hook.form === 'claude' ? { CLAUDE_PROJECT_DIR: folder } : {}),
      },
      stdin: textFor(inputFor(hook, moment, services.profile), redact),
      signal,
      subject: {
        sessionId: moment.sessionId,
        platform: moment.platform,
        user: services.user,
        agentPath: moment.agentPath,
        workspace: set.project.folder,
      },
    })
  }
  const ask = async (hook: HookDeclaration, set: HookSet, moment: Moment, dispatch: Dispatch): Promise<HookAnswer> => {
    const state = await stateOf(hook, set)
    const isGate = GATES.has(moment.point)
    if (state === 'unknown') return {}
    if (state === 'changed')
      // A guard that somebody edited must not be a way around it.
      return isGate
        ? {
            block: `The hook ${hook.command.slice(0, 80)} has changed since the user agreed to it. Ask the user to review it: hermes hooks accept`,
          }
        : {}
    const running = runHook(hook, set, moment, dispatch)
    if (hook.isAsync) {
      void running.then((run) => keepFailure(hook, readAnswer(hook, run)))
      return {}
    }
    const run = await running
    const answer = readAnswer(hook, run)
    keepFailure(hook, answer)
    if (answer.notice !== undefined) dispatch.notice(answer.notice)
    if (answer.failure === undefined || !isGate) return answer
    const objects = hook.onFailure === 'strict' || (hook.onFailure === 'default' && isUndecided(run))
    return objects ? { block: answer.failure } : answer
  }
  const keepFailure = (hook: HookDeclaration, { failure }: HookAnswer) => {
    if (failure === undefined) failures.delete(keyOf(hook))
    else {
      failures.set(keyOf(hook), services.redact(failure))
      logger.warn(failure, {})
    }
  }
  return {
    dispatch: async (moment, dispatch) => {
      outbound.tell(moment, dispatch.redact ?? services.redact)
      try {
        const set = await setOf(moment.cwd)
        const meant = distinct(set.hooks.filter((hook) => isMeant(hook, moment)))
        return await Promise.all(meant.map((hook) => ask(hook, set, moment, dispatch)))
      } catch (error) {
        logger.error('Hooks could not be read.', { error: errorLine(error) })
        return GATES.has(moment.point) ? [{ block: 'The hooks of this home could not be read.' }] : []
      }
    },
    wants: (point) =>
      own.hooks.some(({ row }) => row.point === point) ||
      Object.entries(EVENTS.hermes).some(
        ([event, row]) => row.point === point && own.outbound.some((hook) => isSent(hook, event)),
      ),
    refresh: async (folder, notice) => {
      const { set, hooks } = await listOf(folder)
      const say = (text: string) => {
        if (!notified.has(text)) notice(text)
        notified.add(text)
      }
      if (set.untrusted.length > 0)
        say(
          `${set.project.folder} brings hooks (${set.untrusted.join(', ')}), which do not run: the project is not trusted. To trust it: hermes trust add`,
        )
      const waiting = hooks.filter(({ consent }) => consent !== 'agreed')
      if (waiting.length > 0)
        say(
          `${count(waiting.length, 'hook')} of this folder ${waiting.length === 1 ? 'waits' : 'wait'} for your consent: hermes hooks accept`,
        )
      for (const problem of set.problems) say(problem)
    },
    list: listOf,
    agree: async (folder, numbers) => {
      const { set, hooks } = await listOf(folder)
      const meant = hooks.filter(({ number, consent }) => consent !== 'agreed' && (numbers?.includes(number) ?? true))
      const byFolder = new Map<string, HookDeclaration[]>()
      for (const { hook } of meant) {
        const place = hook.project ?? set.project.folder
        byFolder.set(place, [...(byFolder.get(place) ?? []), hook])
      }
      for (const list of byFolder.values()) await consents.agree(list, placesOf(list[0]!, set))
      return meant
    },
    revoke: (command) => consents.revoke((entry) => command === null || entry.command === command),
    test: async (folder, number, signal) => {
      const { set, hooks } = await listOf(folder)
      const listed = hooks.find((one) => one.number === number)
      if (!listed) return null
      const run = await runHook(listed.hook, set, sampleMoment(listed.hook, folder), { signal })
      return { run, answer: readAnswer(listed.hook, run) }
    },
    close: async () => {
      await outbound.close()
      await (await opened?.catch(() => null))?.close()
    },
  }
}

/** A webhook whose key is not there is not told anything: whoever checks its signature could not tell us from somebody else. */
function withoutUnsigned(read: ReadHooks, { configFile, secret }: HookServices): ReadHooks {
  const isKeyless = ({ secret: key, secretEnv }: OutboundHook) =>
    key === null && secretEnv !== null && (secret(secretEnv) ?? '') === ''
  const problems = read.outbound
    .filter(isKeyless)
    .map(
      ({ name, secretEnv }) =>
        `${configFile}: the webhook ${name} has no effect: ${secretEnv}, which its secret_env names, is not set. Put it into .env.`,
    )
  return {
    ...read,
    outbound: read.outbound.filter((one) => !isKeyless(one)),
    problems: [...read.problems, ...problems],
  }
}

/** The same command at the same event runs once, however often it is written down. */
function distinct(hooks: readonly HookDeclaration[]): readonly HookDeclaration[] {
  return [...new Map(hooks.map((hook) => [keyOf(hook), hook])).values()]
}

const keyOf = ({ form, event, command, project }: HookDeclaration) => JSON.stringify([form, event, command, project])

/** An event as `hermes hooks test` makes it up. */
function sampleMoment({ row }: HookDeclaration, cwd: string): Moment {
  const isTool = row.matches === 'tool' || row.point === 'tool-result'
  return {
    point: row.point,
    sessionId: 'test',
    platform: 'cli',
    agentPath: ['root'],
    cwd,
    runId: 'test',
    model: 'test',
    permissionMode: 'default',
    ...(isTool
      ? {
          call: {
            id: 'test',
            toolName: 'terminal',
            args: { command: 'echo test' },
            ...(row.point === 'tool-result' ? { result: { text: 'test', isError: false, durationMs: 1 } } : {}),
          },
        }
      : {}),
    fields: { all: { prompt: 'test', user_message: 'test', source: 'startup', stop_hook_active: false } },
  }
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`
}
