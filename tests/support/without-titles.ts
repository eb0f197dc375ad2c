import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const OFF = { title_generation: { enabled: false }, session_summary: { enabled: false } }

/**
 * Lets no model be asked for a title or a summary in a home, so that a script holds the answers of the conversation alone. What config.yaml
 * says of auxiliary tasks stays as it is.
 */
export function withoutTitles(home: string): void {
  const file = join(home, 'config.yaml')
  mkdirSync(home, { recursive: true, mode: 0o700 })
  const text = read(file)
  if (text.includes('auxiliary')) return
  writeFileSync(file, text.trimStart().startsWith('{') ? inJson(text) : inYaml(text), { mode: 0o600 })
}

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}

function inYaml(text: string): string {
  const begun = text === '' || text.endsWith('\n') ? text : `${text}\n`
  return `${begun}auxiliary: ${JSON.stringify(OFF)}\n`
}

function inJson(text: string): string {
  try {
    return JSON.stringify({ ...(JSON.parse(text) as object), auxiliary: OFF })
  } catch {
    return text
  }
}
