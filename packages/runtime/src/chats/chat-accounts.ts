// Which chat platforms a home has an account of, and who may talk there: config.yaml, joined with variables.
import type { HermesConfig, PlatformSettings } from '@hermes/config'
import type { AccessSettings } from '@hermes/platform'
import type { OwnPlatform } from './own-platform.js'

/** Variables of the process and of `.env`. */
export type ChatVariables = Readonly<Record<string, string | undefined>>

/** A platform that is on. */
export interface ReachedPlatform {
  readonly name: string
  readonly access: AccessSettings
}

/** What all platforms take. */
type CommonSettings = HermesConfig['platforms']['email'] | PlatformSettings

/** Those that have an account and are not switched off. */
export function reachedPlatforms(
  config: HermesConfig,
  variables: ChatVariables,
  own: readonly OwnPlatform[],
): readonly ReachedPlatform[] {
  const [telegram, email] = [telegramAccount(config, variables), emailAccount(config, variables)]
  return [
    ...(telegram ? [{ name: 'telegram', access: telegram.access }] : []),
    ...(email ? [{ name: 'email', access: email.access }] : []),
    ...own.flatMap((one) => {
      const account = ownAccount(one, config, variables)
      return account ? [{ name: one.name, access: account.access }] : []
    }),
  ]
}

/** `null` without one, or where it is switched off. */
export function telegramAccount(
  config: HermesConfig,
  variables: ChatVariables,
): { readonly token: string; readonly access: AccessSettings } | null {
  const { telegram } = config.platforms
  const token = variables['TELEGRAM_BOT_TOKEN'] || telegram.token
  if (!token || !telegram.enabled) return null
  const allowedChats = telegram.allowed_chats
  return { token, access: accessOf('TELEGRAM', { own: telegram, allowedChats, config, variables }) }
}

/** `null` without one, or where it is switched off. */
export function emailAccount(
  config: HermesConfig,
  variables: ChatVariables,
): { readonly address: string; readonly access: AccessSettings } | null {
  const { email } = config.platforms
  const address = variables['EMAIL_ADDRESS'] || email.address
  if (!address || !email.enabled) return null
  const access = accessOf('EMAIL', { own: email, allowedChats: [], config, variables })
  // Addresses of senders come in lower case; people write their own as they like.
  const lower = (ids: ReadonlySet<string>) => new Set([...ids].map((id) => id.toLowerCase()))
  const people = { allowedUsers: lower(access.allowedUsers), admins: lower(access.admins) }
  // Anybody may write to an address, and programs do: who is unknown gets no word unless that was asked for.
  const strangers = email.unauthorized_dm_behavior ?? 'ignore'
  return { address, access: { ...access, ...people, strangers } }
}

/** Of a platform that an extension brings: the values of its variables. `null` without one, or where it is switched off. */
export function ownAccount(
  { name, account, settings }: OwnPlatform,
  config: HermesConfig,
  variables: ChatVariables,
): { readonly values: Readonly<Record<string, string>>; readonly access: AccessSettings } | null {
  if (!settings.enabled) return null
  const values: Record<string, string> = {}
  for (const { variable } of account) {
    const value = variables[variable]
    if (!value) return null
    values[variable] = value
  }
  const allowedChats = settings.allowed_chats
  return { values, access: accessOf(name.toUpperCase(), { own: settings, allowedChats, config, variables }) }
}

function accessOf(
  prefix: string,
  {
    own,
    allowedChats,
    config,
    variables,
  }: {
    own: CommonSettings
    allowedChats: readonly string[]
    config: HermesConfig
    variables: ChatVariables
  },
): AccessSettings {
  const isOn = (name: string) => /^(?:1|true|yes|on)$/i.test(variables[name] ?? '')
  return {
    allowedUsers: new Set([
      ...own.allowed_users,
      ...listIn(variables[`${prefix}_ALLOWED_USERS`]),
      ...listIn(variables['GATEWAY_ALLOWED_USERS']),
    ]),
    allowsAll: own.allow_all_users || isOn(`${prefix}_ALLOW_ALL_USERS`) || isOn('GATEWAY_ALLOW_ALL_USERS'),
    allowedChats: new Set([...allowedChats, ...listIn(variables[`${prefix}_GROUP_ALLOWED_CHATS`])]),
    admins: new Set(own.allow_admin_from),
    strangers: own.unauthorized_dm_behavior ?? config.unauthorized_dm_behavior,
  }
}

function listIn(text: string | undefined): readonly string[] {
  return (text ?? '').split(',').flatMap((one) => one.trim() || [])
}
