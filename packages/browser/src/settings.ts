import { CLOUD_NAMES, type CloudName } from './cloud/cloud-vendors.js'

/** `browser` of config.yaml. */
export interface BrowserSettings {
  /** Where pages of the public web are opened. `auto`: an address that is set, the browser of this machine, else a cloud with a key. */
  readonly backend: 'auto' | 'local' | 'cdp' | 'camofox' | CloudName
  /** Of the DevTools protocol of another browser; `null` for none. */
  readonly cdpUrl: string | null
  /** The program; `null` looks for Chrome, Chromium, Brave and Edge. */
  readonly executable: string | null
  /** Shows its window. */
  readonly isHeaded: boolean
  readonly idleMs: number
  /** For one call, but for the time in which a person is asked. */
  readonly commandMs: number
  readonly dialogs: 'must_respond' | 'auto_dismiss' | 'auto_accept'
  readonly dialogMs: number
  /** Whether the tool for the protocol of the browser itself is there. */
  readonly allowsCdp: boolean
  /** Whose cookies sessions begin with and leave behind; `null` for none. */
  readonly profile: string | null
  /** Keeps pictures of what sessions show, for the person. */
  readonly recordsSessions: boolean
  readonly camofox: CamofoxSettings
}

/** `browser.camofox`: whose cookies and tabs sessions use there. */
interface CamofoxSettings {
  /** A user who stays; `null`: each session is one of its own. */
  readonly user: string | null
  /** The group of tabs of that user; `null` for that of Hermes. */
  readonly group: string | null
  /** Takes over a tab that this user has open before it makes one. */
  readonly takesTabs: boolean
  /** All sessions of a home are one user, whose cookies stay. */
  readonly staysPersistent: boolean
}

export const DEFAULT_SETTINGS: BrowserSettings = Object.freeze({
  backend: 'auto',
  cdpUrl: null,
  executable: null,
  isHeaded: false,
  idleMs: 120_000,
  commandMs: 30_000,
  dialogs: 'must_respond',
  dialogMs: 300_000,
  allowsCdp: false,
  profile: null,
  recordsSessions: false,
  camofox: { user: null, group: null, takesTabs: false, staysPersistent: false },
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

const readBackend = oneOf('backend', ['auto', 'local', 'cdp', 'camofox', ...CLOUD_NAMES])

const READERS: Readonly<Record<string, Reader>> = Object.freeze({
  backend: (value) => readBackend(value === '' ? 'auto' : value),
  cdp_url: (value) =>
    typeof value === 'string' ? { cdpUrl: value.trim() === '' ? null : value.trim() } : 'must be an address',
  executable: (value) => (typeof value === 'string' && value !== '' ? { executable: value } : 'must be a path'),
  headed: (value) => (typeof value === 'boolean' ? { isHeaded: value } : 'must be true or false'),
  inactivity_timeout: seconds('idleMs', 86_400),
  command_timeout: seconds('commandMs', 600),
  dialog_policy: oneOf('dialogs', ['must_respond', 'auto_dismiss', 'auto_accept']),
  allow_cdp: (value) => (typeof value === 'boolean' ? { allowsCdp: value } : 'must be true or false'),
  profile: (value) =>
    typeof value === 'string' && /^[\w-]{1,40}$/.test(value)
      ? { profile: value }
      : 'must be a name of letters, digits, - and _',
  record_sessions: (value) => (typeof value === 'boolean' ? { recordsSessions: value } : 'must be true or false'),
  dialog_timeout_s: seconds('dialogMs', 3600),
  camofox: readCamofox,
})

const CAMOFOX_KEYS = {
  user_id: 'user',
  session_key: 'group',
  adopt_existing_tab: 'takesTabs',
  managed_persistence: 'staysPersistent',
} as const

function readCamofox(value: unknown): Partial<BrowserSettings> | string {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return 'must have keys such as user_id'
  const camofox: Record<string, string | boolean | null> = { ...DEFAULT_SETTINGS.camofox }
  for (const [key, item] of Object.entries(value)) {
    if (!Object.hasOwn(CAMOFOX_KEYS, key)) return `${key} has no effect; known: ${Object.keys(CAMOFOX_KEYS).join(', ')}`
    const isSwitch = key === 'adopt_existing_tab' || key === 'managed_persistence'
    if (typeof item !== (isSwitch ? 'boolean' : 'string'))
      return `${key} must be ${isSwitch ? 'true or false' : 'a text'}`
    camofox[CAMOFOX_KEYS[key as keyof typeof CAMOFOX_KEYS]] = typeof item === 'string' ? item.trim() || null : item
  }
  return { camofox: camofox as unknown as CamofoxSettings }
}

/** Keys of the Hermes Agent that people come from: what each is there where nobody changed it, and what is so here. */
const ELSEWHERE: Readonly<Record<string, readonly [usual: unknown, here: string]>> = Object.freeze({
  allow_private_urls: [
    false,
    'addresses of this machine and its networks ask once; a rule browser(http://localhost:*) allows them',
  ],
  auto_local_for_private_urls: [true, 'such addresses always open in the browser of this machine'],
  engine: ['auto', 'the browser is Chromium or what is made of it'],
  snapshot_threshold: [15_000, 'what an answer leaves out of a page is in a file that it names'],
  use_real_profile: [false, 'profile keeps cookies under a name'],
  real_profile_autoclose: [false, 'profile keeps cookies under a name'],
  real_profile_pin: ['', 'profile keeps cookies under a name'],
  allow_unsafe_evaluate: [false, 'allow_cdp has a tool that evaluates'],
  restrict_evaluate: [false, 'without allow_cdp nothing is evaluated'],
  extension_control: [null, '/browser connect opens pages in a browser that is there'],
})

/** Reads the section, older names included. What is wrong with a key leaves its default. */
export function readSettings(value: unknown): ReadSettings {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return { settings: DEFAULT_SETTINGS, problems: [{ path: [], message: 'it must have keys such as headed: true' }] }
  let settings = DEFAULT_SETTINGS
  const problems: { readonly path: readonly string[]; readonly message: string }[] = []
  const keys: Readonly<Record<string, unknown>> = { ...value }
  for (const [key, item] of Object.entries(keys)) {
    const read = key === 'cloud_provider' ? readProvider(item, keys['backend']) : readKey(key, item)
    if (typeof read === 'string') problems.push({ path: [key], message: read })
    else settings = { ...settings, ...read }
  }
  return { settings, problems }
}

function readKey(key: string, item: unknown): Partial<BrowserSettings> | string {
  if (Object.hasOwn(READERS, key)) return READERS[key]!(item)
  if (!Object.hasOwn(ELSEWHERE, key)) return `has no effect; known: ${Object.keys(READERS).join(', ')}`
  const [usual, here] = ELSEWHERE[key]!
  return item === usual || item === null ? {} : `has no effect here: ${here}`
}

/** The older name of `backend`, which counts where that names none. */
function readProvider(item: unknown, backend: unknown): Partial<BrowserSettings> | string {
  const isNamed = typeof backend === 'string' && backend !== '' && backend !== 'auto'
  return isNamed || item === null || item === '' ? {} : readBackend(item)
}
