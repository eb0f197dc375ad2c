import { dirname } from 'node:path'
import { isJsonObject } from '@hermes/contracts'
import type { CredentialSource } from '@hermes/contracts/model'
import type { AuthDocument } from './auth-store.js'
import type { CredentialInfo } from './info.js'

/** Which one of a provider's keys and logins is used alone. Asked before each call. */
export interface AccountChoice {
  /** The one that a session chose, by id or label; `null`: that of the project. */
  readonly chosen: () => Promise<string | null>
  /** Where the session works, symbolic links resolved. `null`: in no project. */
  readonly folder: string | null
}

/** The credentials of one provider as one session may use them: the account that was chosen alone, else all. */
export interface AccountSource extends CredentialSource {
  /**
   * The one a person names by id, label or place in the list, counted from 1, whether it can be used or not.
   * @throws HermesError `credentials.unknown`
   */
  find(name: string): Promise<CredentialInfo>
}

/** The name under which choices of projects are in `auth.json`: by folder, then by provider, the label. */
const PROJECTS = 'project_accounts'

/** The account that the nearest project around a folder uses, and which project that is; `null` for none. */
export function projectAccount(
  document: AuthDocument,
  provider: string,
  folder: string,
): { readonly label: string; readonly folder: string } | null {
  const projects = document[PROJECTS]
  if (!isJsonObject(projects)) return null
  for (let at = folder; ; at = dirname(at)) {
    const chosen = Object.hasOwn(projects, at) ? projects[at] : undefined
    const label = isJsonObject(chosen) && Object.hasOwn(chosen, provider) ? chosen[provider] : undefined
    if (typeof label === 'string') return { label, folder: at }
    if (dirname(at) === at) return null
  }
}

/** The document with another choice of a project; `null` takes it back. */
export function withProjectAccount(
  document: AuthDocument,
  { provider, folder, label }: { readonly provider: string; readonly folder: string; readonly label: string | null },
): AuthDocument {
  const projects = isJsonObject(document[PROJECTS]) ? document[PROJECTS] : {}
  const { [folder]: before, ...others } = projects
  const { [provider]: _former, ...rest } = isJsonObject(before) ? before : {}
  const chosen = label === null ? rest : { ...rest, [provider]: label }
  return {
    ...document,
    [PROJECTS]: Object.keys(chosen).length === 0 ? others : { ...others, [folder]: chosen },
  }
}
