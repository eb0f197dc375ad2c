// The chat platforms of a home: each is on as soon as its account is known.
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import type { HermesConfig } from '@hermes/config'
import { type Clock, HermesError, type Logger } from '@hermes/contracts'
import type { Platform } from '@hermes/contracts/platform'
import { seekLock } from '@hermes/files'
import type { AccessSettings } from './platform-access.js'

type Variables = Readonly<Record<string, string | undefined>>

const TELEGRAM_ROOT = 'https://api.telegram.org'

/** A platform that is configured, and how it is to behave. */
export interface ConfiguredPlatform {
  readonly name: string
  readonly access: AccessSettings
  readonly requiresMention: boolean
  readonly showsTyping: boolean
  readonly repliesTo: boolean
  /** What this account is known by on this machine; nothing can be told from it. */
  readonly fingerprint: string
  /** Not connected. Rejects with `platform.bad_options`. */
  create(options: {
    readonly fetchTo: (address: string) => typeof fetch
    readonly clock: Clock
    readonly logger: Logger
  }): Promise<Platform>
}

/** Those that have an account and are not switched off. */
export function configuredPlatforms(config: HermesConfig, variables: Variables): readonly ConfiguredPlatform[] {
  const { telegram } = config.platforms
  const token = variables['TELEGRAM_BOT_TOKEN'] || telegram.token
  if (!token || !telegram.enabled) return []
  const url = variables['TELEGRAM_WEBHOOK_URL'] || telegram.webhook_url
  const apiRoot = telegram.base_url ?? TELEGRAM_ROOT
  return [
    {
      name: 'telegram',
      access: accessOf('TELEGRAM', config, variables),
      requiresMention: telegram.require_mention,
      showsTyping: telegram.typing_indicator,
      repliesTo: telegram.reply_to_mode !== 'off',
      fingerprint: createHash('sha256').update(`telegram:${token}`).digest('hex').slice(0, 32),
      create: async ({ fetchTo, clock, logger }) => {
        const { createTelegram } = await import('@hermes/platform-telegram')
        const webhook = url ? { url, secret: variables['TELEGRAM_WEBHOOK_SECRET'] ?? '' } : undefined
        return createTelegram({ token, apiRoot, webhook, fetch: fetchTo(apiRoot), clock, logger })
      },
    },
  ]
}

function accessOf(prefix: string, config: HermesConfig, variables: Variables): AccessSettings {
  const { telegram } = config.platforms
  const isOn = (name: string) => /^(?:1|true|yes|on)$/i.test(variables[name] ?? '')
  return {
    allowedUsers: new Set([
      ...telegram.allowed_users,
      ...listIn(variables[`${prefix}_ALLOWED_USERS`]),
      ...listIn(variables['GATEWAY_ALLOWED_USERS']),
    ]),
    allowsAll: telegram.allow_all_users || isOn(`${prefix}_ALLOW_ALL_USERS`) || isOn('GATEWAY_ALLOW_ALL_USERS'),
    allowedChats: new Set([...telegram.allowed_chats, ...listIn(variables[`${prefix}_GROUP_ALLOWED_CHATS`])]),
    admins: new Set(telegram.allow_admin_from),
    strangers: telegram.unauthorized_dm_behavior ?? config.unauthorized_dm_behavior,
  }
}

function listIn(text: string | undefined): readonly string[] {
  return (text ?? '').split(',').flatMap((one) => one.trim() || [])
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
