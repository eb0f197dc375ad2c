/** How requests to Bedrock are authorised. */
export type AwsCredential =
  | { readonly type: 'none' }
  | { readonly type: 'bearer'; readonly token: string }
  | {
      readonly type: 'keys'
      readonly accessKeyId: string
      readonly secretAccessKey: string
      readonly sessionToken?: string
    }
  | { readonly type: 'chain'; readonly profile?: string }

const CHAIN = /^aws(?::(.+))?$/
const KEYS = /^([A-Z0-9]{16,128}):([^:\s]+)(?::([^:\s]+))?$/

/**
 * Reads a credential of this wire: `ACCESS_KEY_ID:SECRET[:SESSION_TOKEN]` signs requests, `aws[:PROFILE]` lets the SDK look where AWS
 * tools keep theirs, and anything else is a Bedrock API key that goes out as bearer token. `null` sends none.
 */
export function parseAwsCredential(credential: string | null): AwsCredential {
  if (!credential) return { type: 'none' }
  const chain = CHAIN.exec(credential)
  if (chain) return { type: 'chain', ...(chain[1] === undefined ? {} : { profile: chain[1] }) }
  const keys = KEYS.exec(credential)
  if (!keys) return { type: 'bearer', token: credential }
  const [, accessKeyId = '', secretAccessKey = '', sessionToken] = keys
  return { type: 'keys', accessKeyId, secretAccessKey, ...(sessionToken === undefined ? {} : { sessionToken }) }
}

/** The parts of a credential that nobody may read in an error. */
export function secretsOf(credential: AwsCredential): readonly string[] {
  switch (credential.type) {
    case 'bearer':
      return [credential.token]
    case 'keys':
      return [credential.secretAccessKey, ...(credential.sessionToken ? [credential.sessionToken] : [])]
    case 'none':
    case 'chain':
      return []
    default:
      return credential satisfies never
  }
}

const VARIABLES = {
  bearer: 'AWS_BEARER_TOKEN_BEDROCK',
  accessKeyId: 'AWS_ACCESS_KEY_ID',
  secretAccessKey: 'AWS_SECRET_ACCESS_KEY',
  sessionToken: 'AWS_SESSION_TOKEN',
  profile: 'AWS_PROFILE',
} as const

/**
 * The credential for the `bedrock-converse` wire that the values of environment variables make: a Bedrock API key, else a pair of keys,
 * else the SDK's own chain (shared files, single sign-on, containers, instance roles), for `AWS_PROFILE` where it is set.
 */
export function awsCredential(values: Readonly<Record<string, string | undefined>>): string {
  const [bearer, id, secret, session, profile] = Object.values(VARIABLES).map((name) => values[name])
  if (bearer) return bearer
  if (id && secret) return [id, secret, ...(session ? [session] : [])].join(':')
  return profile ? `aws:${profile}` : 'aws'
}

const DEFAULT_REGION = 'us-east-1'
const IN_HOST = /(?:^|\.)bedrock-runtime(?:-fips)?\.([a-z]{2,}(?:-[a-z]+)+-\d+)\./

/** The region for which requests to an address are signed: the one its host names, else `us-east-1`. */
export function regionOf(baseUrl: string): string {
  return IN_HOST.exec(new URL(baseUrl).hostname)?.[1] ?? DEFAULT_REGION
}

/** Where Bedrock answers in the region that `AWS_REGION` or `AWS_DEFAULT_REGION` names; `null` when neither is set. */
export function bedrockAddress(values: Readonly<Record<string, string | undefined>>): string | null {
  const region = values['AWS_REGION'] || values['AWS_DEFAULT_REGION']
  if (!region || !/^[a-z0-9-]+$/.test(region)) return null
  const domain = region.startsWith('cn-') ? 'amazonaws.com.cn' : 'amazonaws.com'
  return `https://bedrock-runtime.${region}.${domain}`
}
