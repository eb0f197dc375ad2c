// docs/parity.md, made from docs/parity.json: what the reference system has, and what became of each of it here. Used by generate.mjs.
// From the same rows come the lines that answer whoever types a command of it that is not here.
// A state is `here`, `renamed: TO`, `replaced: BY`, `later: PART` or `not here: BECAUSE`. What the sources have is `here`, whatever `later` says.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { table } from './reference-pages.mjs'

const STATE = /^(?:here|(?:renamed|replaced|later|not here): \S.*)$/

const SLASH_LINES = 'packages/commands/src/generated/left-out.ts'
const COMMAND_LINES = 'apps/cli/src/generated/left-out.ts'

/**
 * @returns {{ file: string, text: string }[]} the page as it should be, and the files of lines; none where there is no data
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
  const rowsOf = (wanted) => sections.find(({ section }) => section === wanted)?.rows ?? []
  const slash = rowsOf('slash commands').filter(([name]) => !name.includes('_'))
  // Of what is not here as a whole one line is enough.
  const commands = rowsOf('commands').filter(
    ([name, state]) => (!name.includes(' ') || has.commands(name.split(' ')[0])) && !state.includes('the same words'),
  )
  return [
    { file: 'docs/parity.md', text: render(sections) },
    { file: SLASH_LINES, text: renderLines(slash, '/') },
    { file: COMMAND_LINES, text: renderLines(commands, 'hermes ') },
  ]
}

const LINES = {
  renamed: (typed, to) => `${typed} is called ${to} here.`,
  replaced: (typed, by) => `There is no ${typed} here; instead: ${by}.`,
  later: (typed, part) => `${typed} is not here yet; it comes with: ${part}.`,
  'not here': (typed, because) => `There is no ${typed} here: ${because}.`,
}

function renderLines(rows, before) {
  const lines = rows.flatMap(([name, state]) => {
    const [, kind, rest] = /^([a-z ]+): (.*)$/.exec(state) ?? []
    return kind ? [`  [${JSON.stringify(name)}, ${JSON.stringify(LINES[kind](before + name, rest))}],\n`] : []
  })
  return `// Written by \`pnpm gen\` from docs/parity.json.

/** The line for each command of the reference system that is not here, by its name. */
export const LEFT_OUT: ReadonlyMap<string, string> = new Map([
${lines.join('')}])
`
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
