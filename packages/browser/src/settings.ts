/** `browser` of config.yaml. */
export interface BrowserSettings {
  /** `auto` and `local` start a browser of this machine. */
  readonly backend: 'auto' | 'local'
  /** The program; `null` looks for Chrome, Chromium, Brave and Edge. */
  readonly executable: string | null
  /** Shows its window. */
  readonly isHeaded: boolean
  readonly idleMs: number
  /** For one call, but for the time in which a person is asked. */
  readonly commandMs: number
  readonly dialogs: 'must_respond' | 'auto_dismiss' | 'auto_accept'
  readonly dialogMs: number
}

export const DEFAULT_SETTINGS: BrowserSettings = Object.freeze({
  backend: 'auto',
  executable: null,
  isHeaded: false,
  idleMs: 120_000,
  commandMs: 30_000,
  dialogs: 'must_respond',
  dialogMs: 300_000,
})

/** Settings and what is wrong with those that were left out, a line each. */
export interface ReadSettings {
  readonly settings: BrowserSettings
  readonly problems: readonly { readonly path: readonly string[]; readonly message: string }[]
}

type Reader = (value: unknown) => Partial<BrowserSettings> | string

const seconds =
  (key: 'idleMs' | 'commandMs' | 'dialogMs', most: number): Reader =>
  (value) =>
    typeof value === 'number' && value > 0 && value <= most
      ? { [key]: value * 1000 }
      : `must be seconds from 1 to ${most}`

const oneOf =
  <Key extends 'backend' | 'dialogs'>(key: Key, values: readonly BrowserSettings[Key][]): Reader =>
  (value) =>
    values.includes(value as BrowserSettings[Key])
      ? ({ [key]: value } as Partial<BrowserSettings>)
      : `must be ${values.join(', ')}`

const READERS: Readonly<Record<string, Reader>> = Object.freeze({
  backend: oneOf('backend', ['auto', 'local']),
  executable: (value) => (typeof value === 'string' && value !== '' ? { executable: value } : 'must be a path'),
  headed: (value) => (typeof value === 'boolean' ? { isHeaded: value } : 'must be true or false'),
  inactivity_timeout: seconds('idleMs', 86_400),
  command_timeout: seconds('commandMs', 600),
  dialog_policy: oneOf('dialogs', ['must_respond', 'auto_dismiss', 'auto_accept']),
  dialog_timeout_s: seconds('dialogMs', 3600),
})

/** Reads the section. What is wrong with a key leaves its default. */
export function readSettings(value: unknown): ReadSettings {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return { settings: DEFAULT_SETTINGS, problems: [{ path: [], message: 'it must have keys such as headed: true' }] }
  let settings = DEFAULT_SETTINGS
  const problems: { readonly path: readonly string[]; readonly message: string }[] = []
  for (const [key, item] of Object.entries(value)) {
    const read = Object.hasOwn(READERS, key)
      ? READERS[key]!(item)
      : `has no effect; known: ${Object.keys(READERS).join(', ')}`
    if (typeof read === 'string') problems.push({ path: [key], message: read })
    else settings = { ...settings, ...read }
  }
  return { settings, problems }
}
