import { type Invocation, texts } from './invocation.js'
import { printedText } from './known-text.js'
import { PROGRAMS } from './program-tables.js'
import { interpreterOf, isKnownProgram, onlySays } from './programs.js'

/** Programs whose words are followed as far as they run something. */
const FOLLOWED: ReadonlySet<string> = new Set(
  'git find fd fdfind ssh sed gsed awk gawk mawk nawk eval trap tmux screen su runuser flock sudo mkdir touch tee kill patch xargs'.split(
    ' ',
  ),
)
/** Programs worth looking for inside other words. */
const ANCHORS =
  'rm|rmdir|unlink|shred|srm|wipe|rimraf|dd|mkfs(?:\\.\\w+)?|find|truncate|mv|cp|ln|tee|cat|echo|printf|chmod|chown|kill|pkill|killall|bash|sh|zsh|dash|env|xargs|sudo|curl|wget|nc|python\\d?|node|perl|ruby|git|crontab|systemctl|trash(?:-put)?|gio|tar'
const ANCHOR = new RegExp(`(?<![\\w./~-])(?:[\\w.~/-]*/)?(?:${ANCHORS})(?=[\\s"',)\\]]|$)`, 'g')
const IS_ANCHOR = new RegExp(`^(?:[\\w.~/-]*/)?(?:${ANCHORS})$`)

/** Options of known programs whose value is said, or compared with names. */
const REPORTED =
  /^(?:-t|-k|-g|--(?:test-?name-?pattern|grep|title|message|body|description|notes|comment|reason|summary|subject))$/i
const REPORTED_HERE =
  /^--(?:test-?name-?pattern|grep|title|message|body|description|notes|comment|reason|summary|subject)=/i

/** Programs that run what a file of the project says, and such files: a line that wrote one says what that is. */
const RUN_RECIPES = /^(?:g?make|bmake|ninja|just|task|rake|npm|npx|pnpm|yarn|bun|deno|cargo|docker|podman)$/
const RECIPES =
  /(?:^|\/)(?:(?:GNU|BSD)?[Mm]akefile|[\w.-]+\.mk|package\.json|[Jj]ustfile|Taskfile\.ya?ml|Rakefile|build\.ninja|build\.rs)$/

const MAX_TEXTS = 100
const MAX_WORDS = 100
const MAX_TAIL = 2_000

/** Texts that may be commands; not whole where there are more of them. */
interface Supposed {
  readonly texts: readonly string[]
  readonly isWhole: boolean
}

/**
 * Texts that a program may run as commands although nothing is known of an option that does: words with blanks in them, the words from
 * one on that is the name of a program, what a substitution prints for it. Nothing for programs whose words only say something, and only texts that `counts`.
 */
export function supposedTexts(invocation: Invocation, counts: (text: string) => boolean): Supposed {
  const { name, args, inner, input } = invocation
  if (name === '' || onlySays(name) || FOLLOWED.has(name)) return NOTHING
  if (PROGRAMS.shells.includes(name) && args.some(({ text }) => /^-[a-zA-Z]*c$/.test(text))) return NOTHING
  const words = texts(args)
  const printed = words.some((word) => word.startsWith('<(')) ? inner.flatMap((one) => printedText(one) ?? []) : []
  const piped =
    input.text === null || interpreterOf(name) !== null || PROGRAMS.shells.includes(name) ? [] : [input.text]
  const isKnown = isKnownProgram(name)
  const spoken = (at: number): boolean => isKnown && REPORTED.test(words[at - 1] ?? '')
  const texty = words.filter((word, at) => /[\s|;&><]/.test(word) && !spoken(at) && !REPORTED_HERE.test(word))
  const recipes = RUN_RECIPES.test(name)
    ? [...invocation.made].flatMap(([path, text]) => (RECIPES.test(path) ? [text] : []))
    : []
  const found = [
    ...[
      ...new Set([...texty, ...printed, ...piped, ...recipes].filter(counts).flatMap((text) => inText(text, counts))),
    ],
    ...fromWord(words, isKnown ? 1 : 0).filter(counts),
  ]
  return { texts: found.slice(0, MAX_TEXTS), isWhole: found.length <= MAX_TEXTS }
}

const NOTHING: Supposed = Object.freeze({ texts: Object.freeze([]), isWhole: true })

/** The words from each on that names a program; the first of a known program is a verb of its own. */
function fromWord(words: readonly string[], first: number): readonly string[] {
  const anchors = words.flatMap((word, at) =>
    at >= first && at < words.length - 1 && IS_ANCHOR.test(word) ? [at] : [],
  )
  return anchors.slice(0, MAX_TEXTS + 1).map((at) =>
    words
      .slice(at, at + MAX_WORDS)
      .map(quoted)
      .join(' '),
  )
}

const quoted = (word: string): string => (/^[\w@%+=:,./~-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`)

/** The text, what stands behind a name in it, and what begins with the name of a program, freed of the signs of the language around it. */
function inText(text: string, counts: (text: string) => boolean): readonly string[] {
  const value = /^(?:--?[\w.-]+|[\w.-]+)[=:]\s*(.*)$/s.exec(text)?.[1]
  const bare: string[] = []
  for (const { index } of text.matchAll(ANCHOR)) {
    const tail = text.slice(index, index + MAX_TAIL).replace(/["'`,()[\]{}]/g, ' ')
    if (counts(tail)) bare.push(tail)
    if (bare.length > MAX_TEXTS) break
  }
  return [...new Set([text, ...(value === undefined ? [] : [value]), ...bare])]
}
