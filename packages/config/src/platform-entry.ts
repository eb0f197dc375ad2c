// What config.yaml says of a chat platform that an extension brings: the same as of one of Hermes.
import { checkField, describeValue, type Issue } from './check-field.js'
import type { Field, Section } from './field.js'
import type { HermesConfig } from './hermes-config.js'
import type { OwnValue } from './load-config.js'
import { fieldAt } from './schema.js'

type Telegram = HermesConfig['platforms']['telegram']

/** What `platforms.NAME` takes for every chat platform, with defaults filled in; what only its extension knows is kept as it is. */
export type PlatformSettings = Omit<Telegram, 'token' | 'webhook_url' | 'base_url'>

/** What is said of one platform. */
export interface PlatformEntry {
  /** `null` after a mistake: what was meant to be closed might be open. */
  readonly settings: PlatformSettings | null
  readonly hint: NonNullable<HermesConfig['platform_hints']['telegram']>
  /** `undefined`: those of all chats. */
  readonly toolsets: readonly string[] | undefined
  /** What is wrong, a line each. */
  readonly problems: readonly string[]
}

/** Reads what the sections of platforms say of `name`, as a platform of Hermes has it. */
export function platformEntry(name: string, own: readonly OwnValue[]): PlatformEntry {
  const problems: string[] = []
  const read = (section: string, field: Field | null): unknown => {
    const found = own.find(({ key }) => key === `${section}.${name}`)
    const issues: Issue[] = []
    const value = checkField(field!, found?.value, [], { issues, ...(found ? { sourceOf: found.sourceOf } : {}) })
    for (const { path, expected, found: wrong } of issues)
      problems.push(found!.problem(path, `it must be ${expected}, found ${describeValue(wrong)}.`).message)
    return value
  }
  const settings = read('platforms', commonSettings()) as PlatformSettings
  const isSound = problems.length === 0
  return {
    settings: isSound ? settings : null,
    hint: (read('platform_hints', fieldAt(['platform_hints', 'telegram'])) ?? {}) as PlatformEntry['hint'],
    toolsets: read('platform_toolsets', fieldAt(['platform_toolsets', 'telegram'])) as PlatformEntry['toolsets'],
    problems,
  }
}

/** All but where Telegram's own account is. */
function commonSettings(): Section {
  const telegram = fieldAt(['platforms', 'telegram']) as Section
  const { token: _token, webhook_url: _webhook, base_url: _base, ...fields } = telegram.fields
  return { ...telegram, fields }
}
