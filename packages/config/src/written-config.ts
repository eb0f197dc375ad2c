import { HermesError } from '@hermes/contracts'
import { tryReadText } from './files.js'
import { homeLayout } from './home.js'
import { faultOf } from './load-config.js'
import { parseYaml } from './yaml-file.js'

/** What `config.yaml` of a home says, as it is written: nothing checked, no reference put in; an empty map where there is none. */
export async function writtenConfig(home: string): Promise<{
  readonly value: unknown
  /** Why it cannot be read as a map of settings, in one line; `null` where it can. */
  readonly fault: string | null
}> {
  const file = homeLayout(home).config
  const read = await tryReadText(file)
  if (read.type === 'missing') return { value: {}, fault: null }
  if (read.type === 'unreadable') return { value: {}, fault: `Cannot read ${file}: ${read.reason}.` }
  const yaml = await parseYaml(read.text)
  const fault = faultOf(file, yaml)
  return { value: fault ? {} : (yaml.value ?? {}), fault: fault?.message ?? null }
}

/** The value of a text of YAML, which JSON is too. @throws HermesError `config.broken` with what is wrong in one line */
export async function parseYamlText(text: string): Promise<unknown> {
  const { value, fault } = await parseYaml(text)
  if (!fault) return value
  throw new HermesError(`line ${fault.line}: ${fault.message}`, { code: 'config.broken' })
}
