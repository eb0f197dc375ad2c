import { dirname } from 'node:path'
import { HermesError, isJsonObject, type JsonObject, type JsonValue } from '@hermes/contracts'
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
  /** The one that is used alone now; `null` where all are. @throws HermesError `credentials.unknown`, `credentials.damaged` */
  alone(): Promise<CredentialInfo | null>
  /**
   * The one a person names by id, label or place in the list, counted from 1, whether it can be used or not.
   * @throws HermesError `credentials.unknown`
   */
  find(name: string): Promise<CredentialInfo>
}

/** The name under which choices of projects are in `auth.json`: by folder, then by provider, the label. */
const PROJECTS = 'project_accounts'

/**
 * The account that the nearest project around a folder uses, and which project that is; `null` for none. `path`: of the document, for messages.
 * @throws HermesError `credentials.damaged` where what is written there names none: another account must not stand in for it.
 */
export function projectAccount(
  document: AuthDocument,
  { provider, folder, path }: { readonly provider: string; readonly folder: string; readonly path: string },
): { readonly label: string; readonly folder: string } | null {
  const projects = projectsIn(document, path)
  for (let at = folder; ; at = dirname(at)) {
    const label = memberOf(choicesIn(projects, at, path), provider)
    if (typeof label === 'string') return { label, folder: at }
    if (label !== undefined) throw damaged(path, at)
    if (dirname(at) === at) return null
  }
}

/** Every project that chose an account of a provider, with its label. @throws HermesError `credentials.damaged` */
export function projectAccounts(
  document: AuthDocument,
  { provider, path }: { readonly provider: string; readonly path: string },
): readonly { readonly label: string; readonly folder: string }[] {
  const projects = projectsIn(document, path)
  return Object.keys(projects).flatMap((folder) => {
    const label = memberOf(choicesIn(projects, folder, path), provider)
    return typeof label === 'string' ? [{ label, folder }] : []
  })
}

/** The document with another choice of a project; `null` takes it back. @throws HermesError `credentials.damaged` */
export function withProjectAccount(
  document: AuthDocument,
  {
    provider,
    folder,
    label,
    path,
  }: { readonly provider: string; readonly folder: string; readonly label: string | null; readonly path: string },
): AuthDocument {
  const projects = projectsIn(document, path)
  const { [folder]: _before, ...others } = projects
  const { [provider]: _former, ...rest } = choicesIn(projects, folder, path)
  const chosen = label === null ? rest : { ...rest, [provider]: label }
  return {
    ...document,
    [PROJECTS]: Object.keys(chosen).length === 0 ? others : { ...others, [folder]: chosen },
  }
}

/** Labels of keys and logins that were removed, by provider: sessions and projects may have chosen them, and nothing else gets them by itself. */
const RETIRED = 'retired_labels'

/** The labels that no new key or login of a provider gets by itself. */
export function retiredLabels(document: AuthDocument, provider: string): readonly string[] {
  const all = memberOf(document, RETIRED)
  const labels = isJsonObject(all) ? memberOf(all, provider) : undefined
  return Array.isArray(labels) ? labels.filter((label) => typeof label === 'string') : []
}

/** The document in which one label more is one of them. */
export function withRetired(document: AuthDocument, provider: string, label: string): AuthDocument {
  const all = memberOf(document, RETIRED)
  const labels = [...new Set([...retiredLabels(document, provider), label])]
  return { ...document, [RETIRED]: { ...(isJsonObject(all) ? all : {}), [provider]: labels } }
}

function projectsIn(document: AuthDocument, path: string): JsonObject {
  const projects = memberOf(document, PROJECTS, NOTHING)
  if (!isJsonObject(projects)) throw damaged(path, null)
  return projects
}

function choicesIn(projects: JsonObject, folder: string, path: string): JsonObject {
  const choices = memberOf(projects, folder, NOTHING)
  if (!isJsonObject(choices)) throw damaged(path, folder)
  return choices
}

const NOTHING: JsonObject = Object.freeze({})

function memberOf(object: JsonObject, name: string, missing?: JsonValue): JsonValue | undefined {
  return Object.hasOwn(object, name) ? object[name] : missing
}

function damaged(path: string, folder: string | null): HermesError {
  const where = folder === null ? PROJECTS : `${PROJECTS} for ${folder}`
  return new HermesError(
    `${where} in ${path} is damaged, so nothing says which account may be used. Correct it there or take it out, then choose anew: hermes auth use PROVIDER NAME --project FOLDER`,
    { code: 'credentials.damaged' },
  )
}
