import type { ExtensionRegistry } from '@hermes/agent-core'
import type { ConfigProblem, OwnValue } from '@hermes/config'
import { errorLine } from '@hermes/contracts'
import type { ConfigSection } from '@hermes/contracts/extension'

/** What config.yaml holds beyond the keys of Hermes itself. */
export interface OwnConfig {
  readonly own: readonly OwnValue[]
  readonly problems: readonly ConfigProblem[]
}

/** Gives the config sections of extensions their values. What is wrong with the file after that, one line each. */
export function readConfigSections(registry: ExtensionRegistry, { own, problems }: OwnConfig): readonly string[] {
  const sections = registry.list('config').map(({ item }) => item)
  const isTaken = ({ unknownKey }: ConfigProblem) => sections.some(({ key }) => key === unknownKey)
  const mistakes = sections.flatMap((section) => {
    const value = own.find(({ key }) => key === section.key)
    if (!value) return []
    const unset = section.namesUnset ? [] : value.unset.map(({ message }) => message)
    return [...unset, ...read(registry, section, value)]
  })
  return [...problems.filter((problem) => !isTaken(problem)).map(({ message }) => message), ...mistakes]
}

function read(registry: ExtensionRegistry, section: ConfigSection, own: OwnValue): readonly string[] {
  const { key, schema } = section
  try {
    const result = schema['~standard'].validate(own.value)
    if (result instanceof Promise) throw new TypeError('its schema is asynchronous')
    if (!result.issues) {
      registry.setConfig(key, result.value)
      const left = section.problems?.(result.value) ?? []
      return left.map(({ path, message }) => own.problem(path, oneLine(message)).message)
    }
    const [issue] = result.issues
    const path = (issue?.path ?? []).map((part) => (typeof part === 'object' ? part.key : part))
    const place = path.map((part) => (typeof part === 'number' ? part : String(part)))
    return [own.problem(place, oneLine(issue?.message ?? 'it is not valid')).message]
  } catch (error) {
    return [own.problem([], `it cannot be checked: ${oneLine(errorLine(error))}`).message]
  }
}

const oneLine = (text: string) => `${text.replace(/\s+/g, ' ').trim().replace(/\.$/, '')}.`
