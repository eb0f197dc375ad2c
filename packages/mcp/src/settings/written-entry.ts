import { basename, sep } from 'node:path'
import { isJsonObject, type JsonValue } from '@hermes/contracts'

/** What the variables stand for that editors know. */
export interface Folders {
  /** Absolute. */
  readonly userHome: string
  /** Where the home was opened. Absolute. */
  readonly workspace: string
}

/** An entry with folders in place of `${userHome}`, `${workspaceFolder}`, `${workspaceFolderBasename}` and `${pathSeparator}`. */
export function withFolders(entry: unknown, { userHome, workspace }: Folders): unknown {
  const values: Readonly<Record<string, string>> = {
    userHome,
    workspaceFolder: workspace,
    workspaceFolderBasename: basename(workspace),
    pathSeparator: sep,
  }
  const replace = (value: unknown): unknown => {
    if (typeof value === 'string')
      return value.replace(/\$\{(\w+)\}/g, (text, name: string) => (Object.hasOwn(values, name) ? values[name]! : text))
    if (Array.isArray(value)) return value.map(replace)
    if (!isJsonObject(value)) return value
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, replace(item) as JsonValue]))
  }
  return replace(entry)
}

/**
 * Which server an entry is about: its program or address as it is written, and the names of what it is given. A token that is renewed does not
 * make it another server, whose tools would be new ones.
 */
export function identityOf(entry: unknown): string {
  if (!isJsonObject(entry)) return ''
  const { command, args, cwd, url, protocol, isolated, transport, type } = entry
  const names = (value: unknown) => (isJsonObject(value) ? Object.keys(value).sort() : [])
  const known = [command, args, cwd, url, protocol, isolated, transport, type]
  return JSON.stringify([...known.map((value) => value ?? null), names(entry['env']), names(entry['headers'])])
}
