import type { ApiServerSettings } from '@hermes/config'
import { HermesError } from '@hermes/contracts'
import type { Runtime } from '@hermes/runtime'
import type { AgentFlags } from '@hermes/runtime/app/server'
import { type Access, isLoopback } from './access.js'
import { findApiKey, readApiKeys } from './api-keys.js'

const DEFAULT_HOST = '127.0.0.1'
const DEFAULT_PORT = 8642
const DEFAULT_MODEL_NAME = 'hermes-agent'
const DEFAULT_MAX_RUNS = 64
const DEFAULT_MAX_WAITING = 512
const MIN_KEY_CHARS = 16

/** What the command line asks for; the rest comes from the environment, `.env` and `config.yaml`. */
export interface Flags {
  readonly host: string | undefined
  readonly port: number | undefined
  /** Where agents work. Default: the current folder. */
  readonly cwd: string | undefined
  readonly allowLoopbackWithoutKey: boolean
  readonly agent: AgentFlags
}

/** How the gateway serves. */
export interface Settings {
  readonly host: string
  readonly port: number
  readonly access: Access
  /** The model id clients are shown; the configured one is taken too. */
  readonly modelName: string
  /** Requests under way at once. */
  readonly maxRuns: number
  /** Requests that may wait beside these. */
  readonly maxWaiting: number
  /** Whether references such as `@file:` in a request are attached. */
  readonly references: boolean
  /** Origins of web pages that may read answers. */
  readonly corsOrigins: readonly string[]
}

/** Where settings come from, strongest first: flags, variables, `config.yaml`. */
interface SettingSources {
  readonly flags: Flags
  /** The environment over `.env`. */
  readonly variables: Readonly<Record<string, string | undefined>>
  readonly config: ApiServerSettings
  /** Those who have keys of their own. */
  readonly people: Runtime['people']
  /** Chats are served, so that the API need not be. */
  readonly hasPlatforms: boolean
}

/**
 * Decides how to serve. Pure.
 * @throws HermesError `gateway.no_key`, `gateway.weak_key`, `gateway.bad_port`: one line, with what to do.
 */
export function resolveSettings({ flags, variables, config, people, hasPlatforms }: SettingSources): Settings {
  const keys = readApiKeys(config.keys)
  const holderOf: Access['holderOf'] = (input) => {
    const key = findApiKey(keys, input)
    return key ? { person: key.person, key } : people.holderOf(input)
  }
  const host = flags.host ?? (variables['API_SERVER_HOST'] || config.host) ?? DEFAULT_HOST
  const access = accessOf(variables['API_SERVER_KEY'] || config.key, {
    ...{ host, allow: flags.allowLoopbackWithoutKey, holderOf, hasPlatforms },
    hasKeys: people.hasKeys || keys.length > 0,
  })
  if (access.type === 'loopback' && config.cors_origins.length > 0) {
    const message = 'gateway.api_server.cors_origins lets web pages in, which need a key: set API_SERVER_KEY.'
    throw new HermesError(message, { code: 'gateway.no_key' })
  }
  return {
    host,
    port: flags.port ?? portOf(variables['API_SERVER_PORT']) ?? config.port ?? DEFAULT_PORT,
    access,
    corsOrigins: config.cors_origins,
    modelName: (variables['API_SERVER_MODEL_NAME'] || config.model_name) ?? DEFAULT_MODEL_NAME,
    maxRuns: config.max_concurrent_runs ?? DEFAULT_MAX_RUNS,
    maxWaiting: config.max_waiting_requests ?? DEFAULT_MAX_WAITING,
    references: config.context_references,
  }
}

function accessOf(
  key: string | undefined,
  keyless: { readonly host: string; readonly allow: boolean; readonly hasKeys: boolean } & Pick<Access, 'holderOf'> &
    Pick<SettingSources, 'hasPlatforms'>,
): Access {
  const { holderOf, hasKeys } = keyless
  if (key) {
    if (key.length >= MIN_KEY_CHARS) return { type: 'key', key, holderOf }
    const message = `API_SERVER_KEY is too short: it needs at least ${MIN_KEY_CHARS} characters. Make one with: openssl rand -hex 32`
    throw new HermesError(message, { code: 'gateway.weak_key' })
  }
  if (keyless.allow && isLoopback(keyless.host)) return { type: 'loopback', holderOf }
  // Nobody has a key: all but the health is refused.
  if (!keyless.allow && (hasKeys || keyless.hasPlatforms)) return { type: 'key', key: null, holderOf }
  const message = keyless.allow
    ? `--allow-loopback-without-key serves this machine only, but --host is ${keyless.host}. Set API_SERVER_KEY, or listen on 127.0.0.1.`
    : 'No key is set. Set API_SERVER_KEY to a long random text, or pass --allow-loopback-without-key to serve this machine only.'
  throw new HermesError(message, { code: 'gateway.no_key' })
}

function portOf(text: string | undefined): number | undefined {
  if (!text) return undefined
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text)
  throw new HermesError(`API_SERVER_PORT is "${text}"; it takes a number from 0 to 65535.`, {
    code: 'gateway.bad_port',
  })
}
