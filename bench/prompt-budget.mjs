// What the first request of a session may weigh, by rows: prompt-budget.json says how much each has.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const BYTES_PER_KB = 1_000

/** @returns {{ totalKb: number, rows: { name: string, kB: number, parts: string[] }[] }} */
export function promptBudget() {
  return JSON.parse(readFileSync(join(import.meta.dirname, 'prompt-budget.json'), 'utf8'))
}

/**
 * @param {string} body of a chat-completions request
 * @returns {{ rows: { name: string, kB: number, limitKb: number, parts: { name: string, kB: number }[] }[], totalKb: number, strangers: string[] }}
 *   `strangers` are tools that no row has
 */
export function weigh(body) {
  const { tools = [], messages } = JSON.parse(body)
  const system = messages.filter(({ role }) => role === 'system' || role === 'developer')
  const weights = new Map([['system text', system.reduce((sum, { content }) => sum + kB(content), 0)]])
  for (const tool of tools) weights.set(tool.function.name, kB(tool))
  const rows = promptBudget().rows.map(({ name, kB: limitKb, parts }) => {
    const present = parts.filter((part) => weights.has(part)).map((part) => ({ name: part, kB: weights.get(part) }))
    return { name, limitKb, kB: present.reduce((sum, part) => sum + part.kB, 0), parts: present }
  })
  const known = new Set(rows.flatMap(({ parts }) => parts.map(({ name }) => name)))
  return {
    rows,
    totalKb: [...weights.values()].reduce((sum, weight) => sum + weight, 0),
    strangers: [...weights.keys()].filter((name) => !known.has(name)),
  }
}

function kB(value) {
  return Buffer.byteLength(typeof value === 'string' ? value : JSON.stringify(value)) / BYTES_PER_KB
}
