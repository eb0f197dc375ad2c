// docs/reference/*.md, made from what the sources say. Used by generate.mjs.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** What an exit code means, by its name in apps/cli/src/errors.ts. */
const EXIT_MEANINGS = {
  ok: 'done',
  failed: 'it could not be done, or what was looked at is not in order',
  usage: 'the command line or the configuration asks for what cannot be; nothing was done',
  stopped: 'a limit ended the run: steps, budget or the guard against loops',
  parked: 'the run waits for an approval: hermes approvals',
  interrupted: 'Ctrl-C; 143 for SIGTERM, 129 for SIGHUP',
}

/**
 * @returns {{ file: string, text: string }[]} the pages as they should be
 * @throws Error with a line for each variable or exit code that nothing is said about
 */
export function referencePages(root, facts) {
  const page = (name, title, body) => ({
    file: `docs/reference/${name}.md`,
    text: `<!-- Written by \`pnpm gen\` from the sources. -->\n\n# ${title}\n\n${body.trim()}\n`,
  })
  return [
    page('commands', 'Commands', commands(facts)),
    page('slash-commands', 'Slash commands', slashCommands(facts)),
    page('tools', 'Tools and toolsets', tools(facts)),
    page('variables', 'Variables', variables(root, facts)),
    page('keyboard', 'Keys in a conversation', keyboard(facts)),
    page('exit-codes', 'Exit codes', exitCodes(facts)),
    page('README', 'Reference', index()),
  ]
}

function index() {
  return `What Hermes takes and has; \`pnpm gen\` writes these pages, and \`pnpm check\` fails when one is stale.

- [commands and their flags](commands.md), [exit codes](exit-codes.md)
- [slash commands](slash-commands.md)
- [keys in a conversation](keyboard.md)
- [tools and toolsets](tools.md)
- [keys of config.yaml](../config.md)
- [variables](variables.md)
- [model providers](../providers.md)
- [what the reference system has, and what of it is here](../parity.md)`
}

const cell = (text) => String(text).replaceAll('|', '\\|').replaceAll('\n', ' ')

export function table(head, rows) {
  const line = (cells) => `| ${cells.map(cell).join(' | ')} |`
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n')
}

function commands({ commands: all }) {
  const [program, ...others] = all
  const tops = others.filter(({ path }) => path.length === 1)
  const flags = (command) =>
    command.flags.length === 0
      ? ''
      : `\n\n${table(
          ['flag', ''],
          command.flags.map(({ text, about, choices, value }) => [
            `\`${text}\``,
            about +
              (choices.length > 0 ? `: ${choices.join(', ')}` : '') +
              (value === undefined ? '' : ` (default ${value})`),
          ]),
        )}`
  const section = (command, level) =>
    `${'#'.repeat(level)} hermes ${[...command.path, ...command.takes].join(' ')}\n\n${command.about}${flags(command)}`
  const blocks = tops.flatMap((top) => {
    const below = others.filter(({ path }) => path.length > 1 && path[0] === top.path[0])
    return [section(top, 2), ...below.map((command) => section(command, 3))]
  })
  const list = tops.map(({ path: [name], about }) => `- [${name}](#hermes-${name}): ${about}`).join('\n')
  return `Without a command, \`hermes\` starts a conversation and takes the flags of \`hermes chat\`.${flags(program)}

${list.replace(/\(#hermes-(\S+)\)/g, (_, name) => `(#${anchor(tops.find(({ path }) => path[0] === name))})`)}

${blocks.join('\n\n')}`
}

/** As GitHub makes it of a heading. */
function anchor({ path, takes }) {
  return `hermes ${[...path, ...takes].join(' ')}`
    .toLowerCase()
    .replace(/[^\w\s-]/g, '')
    .replace(/\s/g, '-')
}

const DURING = { allowed: 'at once', waits: 'waits for its end', refused: 'no', interrupts: 'interrupts it' }

function slashCommands({ slash }) {
  const rows = slash.map(({ shown, aliases, summary, duringRun, scope }) => [
    `\`${shown}\``,
    aliases.map((name) => `\`/${name}\``).join(', '),
    summary,
    DURING[duringRun],
    scope,
  ])
  return `\`anyone\` who may talk in a session can call it, or only the \`owner\` of the home. Extensions and plugins add commands of their own.

${table(['command', 'also', '', 'during a run', 'for'], rows)}`
}

function tools({ tools: all, toolsets }) {
  const sentence = (text) => /^.*?[.:](?=\s|$)/s.exec(text)?.[0].replace(/:$/, '.') ?? text
  return `${table(
    ['tool', 'toolset', ''],
    all.map(({ name, toolset, description }) => [`\`${name}\``, `\`${toolset}\``, sentence(description)]),
  )}

## Toolsets

\`-t NAME\` and \`toolsets\` of config.yaml choose them. A set of a part that is not installed has no tools.

${table(
  ['toolset', '', 'tools', 'takes in'],
  toolsets.map(({ name, description, tools: members, includes }) => [
    `\`${name}\``,
    description,
    includes.length > 0 ? '' : members.map((tool) => `\`${tool}\``).join(', '),
    includes.map((set) => `\`${set}\``).join(', '),
  ]),
)}`
}

function variables(root, { variables: { read, keys, terminal } }) {
  const about = JSON.parse(readFileSync(join(root, 'docs/variables.json'), 'utf8'))
  const ofProviders = Map.groupBy(keys, ([name]) => name)
  const own = read.filter((name) => !ofProviders.has(name) && !terminal.includes(name))
  const unsaid = own.filter((name) => !Object.hasOwn(about, name))
  if (unsaid.length > 0) throw new Error(`docs/variables.json says nothing about ${unsaid.join(', ')}`)
  const gone = Object.keys(about).filter(
    (name) => about[name] !== '' && !own.includes(name) && !about[name].startsWith('*'),
  )
  if (gone.length > 0) throw new Error(`docs/variables.json has ${gone.join(', ')}, which no source reads`)
  return `Of the environment, or of the file \`.env\` in the home; the environment counts first.

${table(
  ['variable', ''],
  Object.keys(about).flatMap((name) => (about[name] === '' ? [] : [[`\`${name}\``, about[name].replace(/^\*/, '')]])),
)}

## Keys of model providers

${table(
  ['variable', 'provider'],
  [...ofProviders]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, of]) => [`\`${name}\``, of.map(([, id]) => id).join(', ')]),
)}

## Keys of the section terminal

Each goes before the key of the same name in config.yaml: ${terminal.map((name) => `\`${name}\``).join(', ')}. \`TERMINAL_ENV\` is \`TERMINAL_BACKEND\`.`
}

function keyboard({ actions }) {
  return `\`display.keys\` of config.yaml gives an action other keys, apart by spaces: \`{search: "ctrl+o ctrl+k>s"}\`, of which the second is one key after the other; \`none\` takes them away.
What has no effect, and what a key does no longer, is said as a conversation begins. \`display.editing: vi\` has vi's keys besides.

${table(
  ['action', 'keys'],
  actions.map(({ name, keys }) => [`\`${name}\``, keys.map((key) => `\`${key}\``).join(', ')]),
)}`
}

function exitCodes({ exitCodes: codes }) {
  const unsaid = Object.keys(codes).filter((name) => !Object.hasOwn(EXIT_MEANINGS, name))
  if (unsaid.length > 0) throw new Error(`scripts/reference-pages.mjs says nothing about the exit codes ${unsaid}`)
  return table(
    ['code', ''],
    Object.entries(codes).map(([name, code]) => [code, EXIT_MEANINGS[name]]),
  )
}
