// docs/parity.md, made from docs/parity.json: what the reference system has, and what became of each of it here. Used by generate.mjs.
// A state is `here`, `renamed: TO`, `replaced: BY`, `later: PART` or `not here: BECAUSE`. What the sources have is `here`, whatever `later` says.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { table } from './reference-pages.mjs'

const STATE = /^(?:here|(?:renamed|replaced|later|not here): \S.*)$/

/**
 * @returns {{ file: string, text: string }[]} the page as it should be; none where there is no data
 * @throws Error with a line for each row without a state, for each `here` that is not, and for what is here and said to be gone
 */
export function parityPage(root, facts) {
  const file = join(root, 'docs/parity.json')
  if (!existsSync(file)) return []
  const data = JSON.parse(readFileSync(file, 'utf8'))
  const has = knownNames(facts)
  const mistakes = []
  const sections = Object.entries(data).map(([section, rows]) => ({
    section,
    rows: Object.entries(rows).map(([name, written]) => {
      if (typeof written !== 'string' || !STATE.test(written)) mistakes.push(`  ${section}, ${name}: has no state`)
      const isThere = has[section]?.(name)
      if (isThere === undefined) mistakes.push(`  ${section}: no such section`)
      if (written === 'here' && !isThere) mistakes.push(`  ${section}, ${name}: is said to be here, and is not`)
      if (isThere && /^(?:renamed|replaced|not here)/.test(written))
        mistakes.push(`  ${section}, ${name}: is said to be gone, and is here`)
      return [name, isThere && String(written).startsWith('later') ? 'here' : written]
    }),
  }))
  if (mistakes.length > 0) throw new Error(`docs/parity.json:\n${mistakes.join('\n')}`)
  return [{ file: 'docs/parity.md', text: render(sections) }]
}

function knownNames({ commands, slash, keys, variables }) {
  const paths = new Set(commands.map(({ path }) => path.join(' ')))
  const chat = commands.filter(({ path }) => path.length === 0 || path.join(' ') === 'chat')
  const flags = new Set(chat.flatMap((command) => command.flags.flatMap(({ names }) => names)))
  const typed = new Set(slash.flatMap(({ name, aliases }) => [name, ...aliases]))
  const names = new Set([
    ...variables.read,
    ...variables.terminal,
    ...variables.keys.map(([name]) => name),
    'TERMINAL_ENV',
  ])
  const isKey = new Set(keys)
  // Some are read by what holds them all, as a map or list.
  const ofMap = (key) => key.startsWith('hooks.') && isKey.has('hooks')
  return {
    commands: (name) => paths.has(name),
    flags: (name) => flags.has(name),
    'slash commands': (name) => typed.has(name),
    keys: (name) => isKey.has(name) || ofMap(name),
    variables: (name) => names.has(name),
  }
}

const WORDS = ['here', 'renamed', 'replaced', 'later', 'not here']

function render(sections) {
  const kindOf = (state) => WORDS.find((word) => state === word || state.startsWith(`${word}:`))
  const counts = sections.map(({ section, rows }) => [
    section,
    ...WORDS.map((word) => rows.filter(([, state]) => kindOf(state) === word).length),
    rows.length,
  ])
  const blocks = sections.map(
    ({ section, rows }) =>
      `## ${section[0].toUpperCase()}${section.slice(1)}\n\n${table(
        ['there', 'here'],
        rows.map(([name, state]) => [`\`${section === 'slash commands' ? '/' : ''}${name}\``, state]),
      )}`,
  )
  return `<!-- Written by \`pnpm gen\` from docs/parity.json. -->

# What the reference system has, and what of it is here

\`here\` is checked against the sources by \`pnpm check\`, and against the built command by \`tests/cli/parity.test.ts\`. \`later\` names the part it
comes with.

${table(['', ...WORDS, 'all'], counts)}

${blocks.join('\n\n')}
`
}
