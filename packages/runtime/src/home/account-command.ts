import { existsSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import { type HermesConfig, homeLayout } from '@hermes/config'
import { HermesError } from '@hermes/contracts'
import { accountIn } from '@hermes/contracts/conversation'
import type { Command, CommandContext, CommandOutput, CommandRow, Extension } from '@hermes/contracts/extension'
import type { CredentialInfo, CredentialStore } from '@hermes/credential-pool'
import { poolStrategy } from '../models/credentials.js'
import { isSamePool, poolName, resolvedFolder } from '../models/model-choice.js'

/**
 * Adds `/account`: which key or login of a provider a session, a project or the profile uses, from the next request on. A session that
 * begins beside a project whose folder is gone, or in one of its name, is told that the choice for that folder does not count here.
 */
export function accountCommand({ home, config }: { readonly home: string; readonly config: HermesConfig }): Extension {
  return {
    name: 'account',
    setup(api) {
      const path = homeLayout(home).auth
      const open = async () => {
        const { openCredentialStore } = await import('@hermes/credential-pool')
        return openCredentialStore({ path })
      }
      api.commands.add(command(config, open))
      api.hooks.on('run-start', async (event) => {
        const { session, agentPath, model, environment } = event
        const isFirst = !session.entries.some(({ type }) => type === 'message')
        if (!isFirst || agentPath.length > 1 || environment === null || !existsSync(path)) return
        const folder = await resolvedFolder(environment.root ?? environment.cwd())
        const pool = poolName(model.provider)
        // What cannot be read is said by the request itself.
        const lost = await lostProject(await open(), pool, folder).catch(() => null)
        if (lost !== null && accountIn(session.entries, isSamePool(model.provider)) === null)
          event.notice(
            `${lost.label} of ${pool} was chosen for ${lost.folder}, which is not there any more; here the accounts of the profile are used. If it is this folder now: /account ${lost.label} project. To forget it: hermes auth use ${pool} default --project ${lost.folder}`,
          )
      })
    },
  }
}

/** A choice for a folder that is gone, which had the name of this one or of one around it, or lay beside it; `null` where this folder has its own. */
async function lostProject(store: CredentialStore, pool: string, folder: string) {
  if ((await store.usedInProject(pool, folder)) !== null) return null
  const isNear = (gone: string): boolean => {
    for (let at = folder; dirname(at) !== at; at = dirname(at))
      if (basename(at) === basename(gone) || dirname(at) === dirname(gone)) return true
    return false
  }
  return (await store.projects(pool)).find((project) => isNear(project.folder) && !existsSync(project.folder)) ?? null
}

/** Who uses it: this session, what works in its folder, or all of the home. */
const PLACES = ['session', 'project', 'profile'] as const
type Place = (typeof PLACES)[number]

function command(config: HermesConfig, open: () => Promise<CredentialStore>): Command {
  return {
    name: 'account',
    usage: '[NAME | default] [session | project | profile] [PROVIDER]',
    summary: 'keys and logins: list them, or have one used by this session, its project or the profile',
    duringRun: 'allowed',
    needsSession: false,
    parameters: {
      type: 'object',
      properties: {
        name: { type: 'string', description: 'the label, id or place of one; default takes a choice back' },
        place: {
          type: 'string',
          enum: PLACES,
          description: 'for whom; default: this session, without one the profile',
        },
        provider: { type: 'string', description: 'a provider; default: that of the session' },
      },
    },
    complete: async (words, context) => {
      if (words.length > 0) return words.length === 1 ? PLACES : []
      return [...(await (await open()).list(providerOf(context, undefined))).map(({ label }) => label), 'default']
    },
    run: async ({ name, place, provider }, context) => {
      const store = await open()
      if (name === undefined) return list(store, context)
      const pool = providerOf(context, provider)
      const chosen = name === 'default' ? null : (name as string)
      const text = await use(store, { config, pool, chosen, place: place as Place | undefined, context })
      return { type: 'text', text }
    },
  }
}

function providerOf({ session }: CommandContext, named: unknown): string {
  const provider = (named as string | undefined) ?? session?.provider
  if (provider !== undefined) return poolName(provider)
  throw usage('Which provider? hermes auth use PROVIDER NAME')
}

interface Choice {
  readonly config: HermesConfig
  /** The provider as `auth.json` names it. */
  readonly pool: string
  /** `null`: as before anybody chose. */
  readonly chosen: string | null
  readonly place: Place | undefined
  readonly context: CommandContext
}

async function use(store: CredentialStore, { config, pool, chosen, place, context }: Choice): Promise<string> {
  const { session, cwd } = context
  switch (place ?? (session ? 'session' : 'profile')) {
    case 'session': {
      if (session === null) throw usage('There is no session here yet: say project or profile.')
      if (pool !== poolName(session.provider))
        throw usage(
          `This session asks ${session.provider}. For ${pool} say project or profile: /account NAME project ${pool}`,
        )
      return usedAlone(await session.useAccount(chosen), pool, 'in this session')
    }
    case 'project': {
      const folder = await resolvedFolder(session?.cwd ?? cwd)
      const used = await store.useInProject(pool, chosen, folder)
      return usedAlone(used?.label ?? null, pool, `by sessions in ${folder} that chose none themselves`)
    }
    default: {
      if (chosen === null) throw usage('The profile uses all of them in their order: hermes auth priority changes it.')
      const [first] = await store.prioritize(pool, chosen, 0)
      return usedFirst(first!, pool, poolStrategy(config, pool))
    }
  }
}

function usedAlone(label: string | null, pool: string, where: string): string {
  if (label === null) return `No account of ${pool} is chosen ${where} any more.`
  return `${label} of ${pool} is used ${where}, and no other, from the next request on.`
}

/** What it means that one is the first now. */
function usedFirst({ label, state }: CredentialInfo, provider: string, strategy: string): string {
  const now = `${label} of ${provider} is used first, from the next request on.`
  if (state.type !== 'ready') return `${now} It cannot be used now: hermes auth list ${provider} says why.`
  if (strategy === 'fill-first') return now
  return `${now} credential_pool_strategies has ${strategy} for ${provider}: others are used in between.`
}

async function list(store: CredentialStore, context: CommandContext): Promise<CommandOutput> {
  const providers = await store.providers()
  const rows = await Promise.all(
    providers.map(async (provider) => {
      const alone = await usedAt(store, provider, context)
      return (await store.list(provider)).map((one, index) => row(provider, one, { alone, isFirst: index === 0 }))
    }),
  )
  return { type: 'table', rows: rows.flat(), empty: 'There are no keys or logins. Add one: hermes auth add PROVIDER' }
}

/** The one that is used alone here, and why; `null` where all are. */
async function usedAt(store: CredentialStore, provider: string, { session, cwd }: CommandContext) {
  const own = session && poolName(session.provider) === provider ? await session.account() : null
  if (own !== null) return { label: own, where: 'this session' }
  const project = await store.usedInProject(provider, await resolvedFolder(session?.cwd ?? cwd))
  return project && { label: project.label, where: project.folder }
}

function row(
  provider: string,
  { label, type, state, hint }: CredentialInfo,
  {
    alone,
    isFirst,
  }: { readonly alone: { readonly label: string; readonly where: string } | null; readonly isFirst: boolean },
): CommandRow {
  const isUsed = alone?.label === label
  const cells = [
    provider,
    label,
    type,
    hint === '' ? '' : `…${hint}`,
    state.type,
    ...(isUsed ? [`used in ${alone.where}`] : []),
  ]
  const data = { provider, label, type, state: state.type, isFirst, ...(isUsed ? { usedIn: alone.where } : {}) }
  return { cells, isCurrent: alone ? isUsed : isFirst, isDim: state.type !== 'ready', data }
}

function usage(message: string): HermesError {
  return new HermesError(message, { code: 'command.usage' })
}
