// Skins of the person's own: `skins/NAME.yaml` of the home, in the form that the reference system has them.
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { parseYamlText, readText } from '@hermes/config'
import { errorLine, isJsonObject, type JsonObject } from '@hermes/contracts'
import type { Colour } from '../render/look.js'
import { SKINS, type Skin } from './skin.js'

/** A skin, and what of its file has no effect, a line each. */
interface ReadSkin {
  readonly skin: Skin
  readonly problems: readonly string[]
}

/** Names of colours in files: ours, and those of the reference system that mean the same. */
const NAMES: Readonly<Record<string, Colour>> = {
  ...{ accent: 'accent', notice: 'notice', red: 'red', green: 'green', yellow: 'yellow', blue: 'blue' },
  ...{ magenta: 'magenta', cyan: 'cyan', ui_accent: 'accent', ui_warn: 'notice', ui_ok: 'green', ui_error: 'red' },
}
const SIXTEEN = ['black', 'red', 'green', 'yellow', 'blue', 'magenta', 'cyan', 'white']
const SKIN_NAME = /^[\w-]{1,64}$/
const FILE = /^([\w-]{1,64})\.ya?ml$/
const MAX_PROMPT = 4

/** The names of all skins, those that come with Hermes first. */
export async function skinNames(folder: string): Promise<readonly string[]> {
  const files = await readdir(folder).catch(() => [])
  const own = files.flatMap((file) => FILE.exec(file)?.[1] ?? []).sort()
  return [...new Set([...Object.keys(SKINS), ...own])]
}

/** The skin of that name, a file before one that comes with Hermes; `null` where there is none. A file that cannot be read counts as empty. */
export async function readSkin(folder: string, name: string): Promise<ReadSkin | null> {
  const known = Object.hasOwn(SKINS, name) ? { skin: SKINS[name]!, problems: [] } : null
  if (!SKIN_NAME.test(name)) return known
  for (const file of [`${name}.yaml`, `${name}.yml`]) {
    const path = join(folder, file)
    try {
      const text = await readText(path)
      if (text !== null) return skinOf(await parseYamlText(text), path)
    } catch (error) {
      return { skin: SKINS['default']!, problems: [`${path}: ${errorLine(error)}`] }
    }
  }
  return known
}

function skinOf(value: unknown, path: string): ReadSkin {
  const problems: string[] = []
  const file: JsonObject = isJsonObject(value) ? value : {}
  if (!isJsonObject(value)) problems.push(`${path}: it is no map of keys.`)
  const written = isJsonObject(file['colors']) ? Object.entries(file['colors']) : []
  const colours: Partial<Record<Colour, string>> = {}
  for (const [name, colour] of written) {
    const code = codeOf(String(colour))
    const known = Object.hasOwn(NAMES, name) ? NAMES[name] : undefined
    if (known && code === null)
      problems.push(`${path}: colors.${name} is no colour such as blue, bright-blue or #4682b4.`)
    else if (known) colours[known] = code!
  }
  const branding = isJsonObject(file['branding']) ? file['branding'] : {}
  const prompt = String(branding['prompt_symbol'] ?? '').trim()
  const description = String(file['description'] ?? "one's own")
  const fits = prompt !== '' && prompt.length <= MAX_PROMPT
  return { skin: { description, colours, prompt: fits ? prompt : '>' }, problems }
}

/** What a terminal is told for a colour; `null` for what is none. `none` paints nothing. */
function codeOf(colour: string): string | null {
  const word = colour.trim().toLowerCase()
  if (word === 'none') return ''
  const [, red, green, blue] = /^#([\da-f]{2})([\da-f]{2})([\da-f]{2})$/.exec(word) ?? []
  if (blue !== undefined) return `38;2;${[red, green, blue].map((part) => Number.parseInt(part!, 16)).join(';')}`
  const [, bright, name = ''] = /^(bright[-_ ])?(\w+)$/.exec(word) ?? []
  const at = SIXTEEN.indexOf(name)
  return at < 0 ? null : String((bright ? 90 : 30) + at)
}
