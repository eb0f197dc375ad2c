import { loadSecrets, writtenConfig } from '@hermes/config'
import { systemClock } from '@hermes/contracts'
import { findCredentials } from '../models/credentials.js'
import { secretsIn } from './home-secrets.js'

/**
 * The secrets that a home holds, for what leaves it where it cannot be opened: of its `.env` and the environment, of `auth.json` and of
 * config.yaml as it is written. Files that cannot be read give none.
 */
export async function secretsOfHome(options: {
  readonly home: string
  readonly env: Readonly<Record<string, string | undefined>>
}): Promise<readonly string[]> {
  const [variables, { secrets }, { value }] = await Promise.all([
    loadSecrets(options),
    findCredentials(options.home, systemClock),
    writtenConfig(options.home),
  ])
  return [...variables.secretNames.map((name) => variables.values[name] ?? ''), ...secrets, ...secretsIn(value)]
}
