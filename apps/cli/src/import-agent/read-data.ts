import { parseYamlText } from '@hermes/config'
import { errorLine, isJsonObject, type JsonObject } from '@hermes/contracts'
import type { ImportItem } from './item.js'
import { textOf } from './read-folder.js'

/** A value as a map; an empty one where it is none. */
export function object(value: unknown): JsonObject {
  return isJsonObject(value) ? value : {}
}

/** What stays behind, and why. */
export const left = (name: string, why: string): ImportItem => ({ type: 'left', name, why })

/** A file of settings; broken ones are left, with the reason. */
export async function readData(
  file: string,
): Promise<{ readonly data: JsonObject; readonly items: readonly ImportItem[]; readonly isThere: boolean }> {
  const text = await textOf(file)
  if (text === null) return { data: {}, items: [], isThere: false }
  try {
    return { data: object(await parse(file, text.replace(/^\uFEFF/, ''))), items: [], isThere: true }
  } catch (error) {
    return { data: {}, items: [left(file, `it cannot be read: ${errorLine(error).split('\n')[0]}`)], isThere: true }
  }
}

async function parse(file: string, text: string): Promise<unknown> {
  if (file.endsWith('.toml')) return (await import('smol-toml')).parse(text)
  if (file.endsWith('.yaml')) return parseYamlText(text)
  try {
    return JSON.parse(text)
  } catch {
    return parseYamlText(withoutComments(text))
  }
}

/** JSON with comments and loose commas is YAML once the comments are gone; tabs, which YAML takes for a mistake, are blanks outside of texts. */
function withoutComments(text: string): string {
  return text.replace(
    /("(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')|\/\/[^\n]*|\/\*[\s\S]*?\*\/|\t/g,
    (found: string, quoted?: string) => quoted ?? (found === '\t' ? ' ' : ''),
  )
}
