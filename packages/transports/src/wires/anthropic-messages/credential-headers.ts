/** Tokens of a login, as against keys. */
const TOKEN_PREFIX = 'sk-ant-oat'
/** The API takes such tokens only from requests that say so. */
const TOKEN_BETA = 'oauth-2025-04-20'

/** Exactly one header carries the credential: keys go as the endpoint wants them, tokens of a login always as bearer. */
export function credentialHeaders(
  credential: string | null,
  keyHeader: 'x-api-key' | 'authorization' = 'x-api-key',
): Record<string, string> {
  if (!credential) return {}
  if (credential.startsWith(TOKEN_PREFIX))
    return { authorization: `Bearer ${credential}`, 'anthropic-beta': TOKEN_BETA }
  return keyHeader === 'x-api-key' ? { 'x-api-key': credential } : { authorization: `Bearer ${credential}` }
}
