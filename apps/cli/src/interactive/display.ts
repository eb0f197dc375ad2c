// What the person has chosen of the window: as config.yaml has it at first, and as commands change it while the conversation lasts.
import type { HermesConfig } from '@hermes/config'
import type { DisplaySetting } from '@hermes/contracts/extension'
import { type Bindings, readBindings } from '../editor/bindings.js'
import { UsageError } from '../errors.js'
import type { Look } from '../render/look.js'
import type { ShownCalls } from '../render/progress.js'
import { readSkin, skinNames } from '../skins/own-skins.js'
import { SKINS, type Skin } from '../skins/skin.js'
import { formatTime } from './format-time.js'
import { BAR_FIELDS, type BarField } from './session-bar.js'

/** What Enter does with a line while a run is under way. */
type BusyMode = 'queue' | 'steer' | 'interrupt' | 'background'

type Settings = HermesConfig['display']

/** Other names of what the bar tells. */
const FIELD_ALIASES: Readonly<Record<string, BarField>> = {
  context_pct: 'context',
  context_detail: 'context',
  git_branch: 'branch',
  cwd: 'folder',
  yolo: 'modes',
}

/** Which key of config.yaml keeps a setting. */
const KEPT_BY: Readonly<Record<DisplaySetting, string | null>> = {
  busy: 'display.busy_input_mode',
  statusbar: null,
  timestamps: 'display.timestamps',
  verbose: 'display.tool_progress',
  skin: 'display.skin',
}

/** Opens what config.yaml says of the window; `problems` has a line for what of it has no effect. */
export async function openDisplay(settings: Settings, folder: string): Promise<Display> {
  const found = await readSkin(folder, settings.skin)
  const problems = found?.problems ?? [
    `display.skin: there is no skin "${settings.skin}"; hermes skin lists those there are.`,
  ]
  return new Display(settings, folder, found?.skin ?? SKINS['default']!, problems)
}

class Display {
  readonly problems: readonly string[]
  readonly fields: readonly BarField[]
  readonly isSpoken: boolean
  readonly isVi: boolean
  readonly diffs: boolean
  /** How many exchanges of a session that goes on are shown. */
  readonly exchanges: number
  /** Whether answers are drawn rather than printed as they were written. */
  readonly drawsMarkdown: boolean
  readonly keys: Bindings
  readonly #folder: string
  readonly #format: string
  #busy: BusyMode
  #hasBar = true
  #hasTimes: boolean
  #calls: ShownCalls
  #skin: Skin
  #skinName: string

  constructor(settings: Settings, folder: string, skin: Skin, problems: readonly string[]) {
    const { known, unknown } = fieldsOf(settings.status_bar.fields)
    this.keys = readBindings(settings.keys)
    const ofBar = unknown.map((name) => `display.status_bar.fields: the bar has no field "${name}".`)
    this.problems = [...problems, ...ofBar, ...this.keys.problems]
    this.fields = known.filter((field) => field !== 'cost' || settings.show_cost)
    this.isSpoken = settings.screen_reader
    this.isVi = settings.vim_mode
    this.diffs = settings.inline_diffs
    this.exchanges = settings.resume_display === 'minimal' ? 0 : settings.resume_exchanges
    // Lines and boxes say nothing when they are read aloud.
    this.drawsMarkdown = settings.final_response_markdown === 'render' && !settings.screen_reader
    this.#folder = folder
    this.#format = settings.timestamp_format
    this.#busy = settings.busy_input_mode
    this.#hasTimes = settings.timestamps
    this.#calls = settings.tool_progress
    this.#skin = skin
    this.#skinName = settings.skin
  }

  get busyMode(): BusyMode {
    return this.#busy
  }

  get hasBar(): boolean {
    return this.#hasBar
  }

  get calls(): ShownCalls {
    return this.#calls
  }

  look(): Look {
    const { colours, prompt } = this.#skin
    return { colours, prompt, isSpoken: this.isSpoken }
  }

  /** The time as it stands before a message; empty where none is wanted. */
  time(now: Date): string {
    return this.#hasTimes ? `${formatTime(this.#format, now)} ` : ''
  }

  /** What a setting may be, and which it is now. */
  async choices(setting: DisplaySetting): Promise<{ readonly values: readonly string[]; readonly now: string }> {
    const onOff = ['on', 'off']
    switch (setting) {
      case 'busy':
        return { values: ['queue', 'steer', 'interrupt', 'background'], now: this.#busy }
      case 'statusbar':
        return { values: onOff, now: this.#hasBar ? 'on' : 'off' }
      case 'timestamps':
        return { values: onOff, now: this.#hasTimes ? 'on' : 'off' }
      case 'verbose':
        return { values: ['off', 'all', 'verbose'], now: this.#calls }
      case 'skin':
        return { values: await skinNames(this.#folder), now: this.#skinName }
      default:
        return setting satisfies never
    }
  }

  /**
   * Changes a setting; the lines say what holds now and what keeps it.
   * @throws UsageError for a value that there is not.
   */
  async change(setting: DisplaySetting, value: string): Promise<readonly string[]> {
    const { values } = await this.choices(setting)
    if (!values.includes(value))
      throw new UsageError(`There is no ${setting} "${value}". There are: ${values.join(', ')}.`)
    const problems = await this.#set(setting, value)
    const key = KEPT_BY[setting]
    const kept = key === null ? '' : ` ${key} keeps it so.`
    return [...problems, `${setting}: ${value}, in this window.${kept}`]
  }

  async #set(setting: DisplaySetting, value: string): Promise<readonly string[]> {
    switch (setting) {
      case 'busy':
        this.#busy = value as BusyMode
        return []
      case 'statusbar':
        this.#hasBar = value === 'on'
        return []
      case 'timestamps':
        this.#hasTimes = value === 'on'
        return []
      case 'verbose':
        this.#calls = value as ShownCalls
        return []
      case 'skin': {
        const found = await readSkin(this.#folder, value)
        if (!found) return [`The skin ${value} is gone.`]
        this.#skin = found.skin
        this.#skinName = value
        return found.problems
      }
      default:
        return setting satisfies never
    }
  }
}

export type { Display }

function fieldsOf(names: readonly string[]): {
  readonly known: readonly BarField[]
  readonly unknown: readonly string[]
} {
  if (names.length === 0) return { known: BAR_FIELDS, unknown: [] }
  const fieldOf = (name: string) =>
    BAR_FIELDS.find((field) => field === name) ?? (Object.hasOwn(FIELD_ALIASES, name) ? FIELD_ALIASES[name] : undefined)
  return {
    known: BAR_FIELDS.filter((field) => names.some((name) => fieldOf(name) === field)),
    unknown: names.filter((name) => fieldOf(name) === undefined),
  }
}
