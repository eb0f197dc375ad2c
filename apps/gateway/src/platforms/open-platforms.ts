// The chat platforms of a home: each is on as soon as its account is known.
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import type { HermesConfig } from '@hermes/config'
import { type Clock, HermesError, type Logger } from '@hermes/contracts'
import type { Platform } from '@hermes/contracts/platform'
import { seekLock } from '@hermes/files'
import type { AccessSettings } from '@hermes/platform'
import { type ChatVariables, emailAccount, type OwnPlatform, ownAccount, telegramAccount } from '@hermes/runtime'
import { humanDelay, type Pause } from './human-delay.js'

/** For one that an extension brings to open, and for any to answer. */
const WITHIN_MS = 20_000
const TELEGRAM_ROOT = 'https://api.telegram.org'
/** Instead of the name of a server that vouches for senders. */
const AT_THEIR_WORD = 'none'
const UNPROVEN = 'Senders of mail are taken at their word: whoever writes your address as theirs is taken for you.'
const NOBODY_VOUCHES =
  'Anybody can write your address as theirs. Set EMAIL_AUTHSERV_ID in .env to what your mail server calls itself in Authentication-Results, or to none to take senders at their word.'

/** What a platform is connected with. */
interface PlatformTools {
  readonly fetchTo: (address: string) => typeof fetch
  /** Keeps a small text of this platform for good. */
  readonly keeper: { get(): Promise<string | null>; set(text: string): Promise<void> }
  readonly clock: Clock
  readonly logger: Logger
}

/** What agents of one chat are made with instead. */
export interface ChannelOverride {
  readonly model?: string | undefined
  readonly provider?: string | undefined
  readonly system_prompt?: string | undefined
  /** Names of skills. */
  readonly skills?: readonly string[] | undefined
}

/** A platform that is configured, and how it is to behave. */
export interface ConfiguredPlatform {
  readonly name: string
  readonly access: AccessSettings
  readonly requiresMention: boolean
  readonly showsTyping: boolean
  readonly repliesTo: boolean
  /** Before each message of an answer; `null` for none. */
  readonly pause: Pause | null
  /** What single chats have of their own, by id. */
  readonly overrides: Readonly<Record<string, ChannelOverride | undefined>>
  /** What this account is known by on this machine; nothing can be told from it. */
  readonly fingerprint: string
  /** What a person should know of how it is set up. */
  readonly warnings: readonly string[]
  /** An extension brings it: it may be broken in ways that no setting mends, and keeps no others from running. */
  readonly isForeign: boolean
  /** Not connected. Rejects with `platform.bad_options`, a foreign one also with whatever it throws, or after 20 seconds. */
  create(tools: PlatformTools): Promise<Platform>
}

/** Those that have an account and are not switched off. `own`: those that extensions bring. */
export function configuredPlatforms(
  config: HermesConfig,
  variables: ChatVariables,
  own: readonly OwnPlatform[],
): readonly ConfiguredPlatform[] {
  const ofExtensions = own.map((one) => ownOf(one, config, variables))
  return [telegramOf(config, variables), emailOf(config, variables), ...ofExtensions].filter((one) => one !== null)
}

function telegramOf(config: HermesConfig, variables: ChatVariables): ConfiguredPlatform | null {
  const account = telegramAccount(config, variables)
  if (!account) return null
  const { telegram } = config.platforms
  const { token, access } = account
  const url = variables['TELEGRAM_WEBHOOK_URL'] || telegram.webhook_url
  const apiRoot = telegram.base_url ?? TELEGRAM_ROOT
  return {
    ...{
      name: 'telegram',
      ...commonOf(telegram),
      pause: humanDelay(config, variables),
      requiresMention: telegram.require_mention,
      warnings: [],
      isForeign: false,
    },
    access,
    fingerprint: fingerprintOf(`telegram:${token}`),
    create: async ({ fetchTo, clock, logger }) => {
      const { createTelegram } = await import('@hermes/platform-telegram')
      const webhook = url ? { url, secret: variables['TELEGRAM_WEBHOOK_SECRET'] ?? '' } : undefined
      return createTelegram({ token, apiRoot, webhook, fetch: fetchTo(apiRoot), clock, logger })
    },
  }
}

function emailOf(config: HermesConfig, variables: ChatVariables): ConfiguredPlatform | null {
  const account = emailAccount(config, variables)
  if (!account) return null
  const { email } = config.platforms
  const { address, access } = account
  const password = variables['EMAIL_PASSWORD'] || email.password || ''
  const imapHost = variables['EMAIL_IMAP_HOST'] || email.imap_host || ''
  const smtpHost = variables['EMAIL_SMTP_HOST'] || email.smtp_host || ''
  const imap = { host: imapHost, port: Number(variables['EMAIL_IMAP_PORT'] || email.imap_port) }
  const smtp = { host: smtpHost, port: Number(variables['EMAIL_SMTP_PORT'] || email.smtp_port) }
  const overrides = Object.entries(email.channel_overrides).map(([id, one]) => [id.toLowerCase(), one] as const)
  const authservId = variables['EMAIL_AUTHSERV_ID'] || email.authserv_id || ''
  const isUnproven = authservId.toLowerCase() === AT_THEIR_WORD
  return {
    ...{ name: 'email', ...commonOf(email), pause: humanDelay(config, variables), requiresMention: false, access },
    overrides: Object.fromEntries(overrides),
    fingerprint: fingerprintOf(`email:${address.toLowerCase()}`),
    warnings: isUnproven ? [UNPROVEN] : [],
    isForeign: false,
    create: async ({ keeper, clock, logger }) => {
      if (authservId === '') throw new HermesError(NOBODY_VOUCHES, { code: 'platform.bad_options' })
      const { createEmail } = await import('@hermes/platform-email')
      const proof = isUnproven ? {} : { authservId }
      return createEmail({ address, password, imap, smtp, ...proof, keeper, clock, logger })
    },
  }
}

function ownOf(own: OwnPlatform, config: HermesConfig, variables: ChatVariables): ConfiguredPlatform | null {
  const account = ownAccount(own, config, variables)
  if (!account) return null
  const { name, settings } = own
  const { values, access } = account
  return {
    ...{ name, ...commonOf(settings), pause: humanDelay(config, variables), access, warnings: [] },
    ...{ requiresMention: settings.require_mention, isForeign: true },
    fingerprint: fingerprintOf(JSON.stringify([name, values])),
    create: async (tools) => {
      const opened = (async () => own.open({ account: values, settings: { ...settings } as never, ...tools }))()
      const platform = await withinTime(opened, tools.clock).catch((error: unknown) => {
        // One that opens after all is used by nobody.
        opened.then((late) => late.close()).catch(() => undefined)
        throw error
      })
      const wrong = wrongWith(platform, name)
      if (wrong === null) return platform
      const message = `What opens the chat platform ${name} gives none that can be used: ${wrong}. Look for another version: hermes plugins update`
      throw new HermesError(message, { code: 'platform.bad_options' })
    },
  }
}

const UNITS = ['utf16', 'bytes', 'code-points']
const NEEDED = ['connect', 'send', 'download', 'probe', 'close'] as const
/** In less no answer can be cut. */
const LEAST_LENGTH = 64

/** What is of an extension may be anything; `null` for what is a platform. */
function wrongWith(platform: Partial<Platform> | undefined, name: string): string | null {
  if (platform?.name !== name) return 'it has another name'
  const missing = NEEDED.find((method) => typeof platform[method] !== 'function')
  if (missing) return `it has no ${missing}`
  const { unit, limit } = platform.abilities?.maxLength ?? {}
  const isLength = UNITS.includes(String(unit)) && Number.isInteger(limit) && limit! >= LEAST_LENGTH
  return isLength
    ? null
    : `abilities.maxLength has to have one of the units ${UNITS.join(', ')} and a limit of ${LEAST_LENGTH} or more`
}

/** @throws Error after 20 seconds */
export async function withinTime<Result>(work: Promise<Result>, clock: Clock): Promise<Result> {
  const over = new AbortController()
  const late = clock.sleep(WITHIN_MS, over.signal).then(
    () => Promise.reject(new Error(`There was no answer within ${WITHIN_MS / 1000} seconds.`)),
    () => work,
  )
  return Promise.race([work, late]).finally(() => over.abort())
}

/** What all platforms take. */
type CommonSettings = HermesConfig['platforms']['email'] | OwnPlatform['settings']

function commonOf({ typing_indicator, reply_to_mode, channel_overrides: overrides }: CommonSettings) {
  return { showsTyping: typing_indicator, repliesTo: reply_to_mode !== 'off', overrides }
}

function fingerprintOf(account: string): string {
  return createHash('sha256').update(account).digest('hex').slice(0, 32)
}

/**
 * Holds an account for this process, so that no second one on this machine hears for it.
 * @throws HermesError `gateway.account_taken`
 */
export async function lockAccount({ name, fingerprint }: ConfiguredPlatform, userHome: string): Promise<() => void> {
  const file = join(userHome, '.local', 'state', 'hermes', 'gateway-locks', `${name}-${fingerprint}.lock`)
  const seeker = await seekLock(file)
  const lock = seeker.tryLock()
  if (lock) return () => lock.release()
  seeker.close()
  const message = `Another gateway on this machine speaks for this account of ${name} already. Stop it first: hermes gateway status`
  throw new HermesError(message, { code: 'gateway.account_taken' })
}
