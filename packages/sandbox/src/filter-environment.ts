/** What {@link filterEnvironment} takes away. */
export interface EnvironmentFilter {
  /** Names of variables that children must not see, for example provider keys. */
  readonly secretNames: Iterable<string>
  /** Names that stay although `secretNames` has them. Default none. */
  readonly keep?: Iterable<string>
}

/** A copy of `env` without secrets and without unset values, fit to be given to `createLocalEnvironment`. Names match exactly. */
export function filterEnvironment(
  env: Readonly<Record<string, string | undefined>>,
  filter: EnvironmentFilter,
): Record<string, string> {
  const secret = new Set(filter.secretNames)
  for (const name of filter.keep ?? []) secret.delete(name)
  const kept: Record<string, string> = {}
  for (const [name, value] of Object.entries(env)) if (value !== undefined && !secret.has(name)) kept[name] = value
  return kept
}

/** Whether a variable is called like what a secret is kept in, for example `GITHUB_TOKEN`. A guess. */
export function looksSecret(name: string): boolean {
  return /KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL|PASSWD|AUTH/i.test(name)
}
