// Which exported functions take text, and the patterns beside them.
import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { parseSync } from 'oxc-parser'

/** Names of first parameters that are no text somebody else may have written: short names of our own, and paths, which the system limits. */
const NO_TEXT =
  /^(?:path|folder|parent|file|dir|directory|home|cwd|tempDir|outputDir|userHome|root|real|from|target|url|baseUrl|host|id|sessionId|key|apiKey|keyPath|kind|code|name|provider|model|tool|toolName|program|surface|platform|version|extension|section|table|sql|mark|pool|storage|doing|entry|wanted|argument|reason|title)$/
const LITERAL = /\/((?:[^/\\\n[]|\\.|\[(?:[^\]\\]|\\.)*\])+)\/[dgimsuvy]*/g

/** Functions that are not fed, and why. */
const LEFT_OUT = {
  editYaml: 'every caller has read the text as YAML without mistakes before',
  findExact: 'every caller refuses an empty search first',
  splitMessage: 'it takes a limit that every platform has; its tests feed it',
  renewTokens: 'its first parameter is a file',
  loadInside: 'its first parameter is a module',
}

const COMMAND = [131_072, 'the terminal refuses longer commands']
const RECORDED = [64_000, 'traffic that tests record, which nothing reads while an agent works']
const SETTINGS = [2_000, "the person's own settings, read as a program starts: YAML takes 10 ms for 1 KB at its worst"]
const CONTEXT = [262_144, 'instructions, notes and skills, none of which is longer']
const OURS = [64_000, 'rows that Hermes itself wrote']
const LINE = [100_000, 'a line that is shown or typed: what is pasted and longer stands aside']
const NAME = [4_000, 'names and titles, which their tables keep short']

/** Functions that never get a text of 1 MB: how much they get at most, and why. With `--full` they are fed that much. */
const AT_MOST = {
  ...{
    endlessPart: COMMAND,
    exitCodeMeaning: COMMAND,
    needsOutside: COMMAND,
    parseShell: COMMAND,
    sudoOutcome: COMMAND,
  },
  ...{ classifyCommand: COMMAND, decodeAnsiC: COMMAND, splitWords: COMMAND, onlyLooks: COMMAND },
  ...{ mergeHandEdit: CONTEXT, scanContext: CONTEXT },
  ...{ visibleText: COMMAND, matchGlob: COMMAND, scriptLine: COMMAND },
  ...{ mapChunk: RECORDED, readBody: RECORDED, mergeEvents: RECORDED, parseRecording: RECORDED },
  ...{ parseYaml: SETTINGS, parseYamlText: SETTINGS, readableSections: SETTINGS, readHookFile: SETTINGS },
  ...{ parseApproval: OURS, readRescuedLine: OURS },
  ...{ numberedTitle: NAME, folderOf: NAME, padded: NAME, parseTarget: NAME, parseAddress: NAME, findProvider: NAME },
  ...{
    ipv4Kind: NAME,
    ipv6Kind: NAME,
    reachedAs: NAME,
    hostKind: NAME,
    toolName: NAME,
    toolsetName: NAME,
    nearestName: NAME,
    inOneLine: NAME,
    variableOf: NAME,
  },
  lineDiff: [100_000, 'a skill that an agent writes has no more'],
  searchSkills: [1_000, 'words that a person types'],
  ...{ pairs: [500, 'a search is cut there'], toTsQuery: [4_000, 'a search is cut there'] },
  addPieces: [250_000, 'a page, or what a tool answered'],
  phrasesOf: [4_000, 'a search is cut there'],
  formatTime: SETTINGS,
  ...{ graphemes: LINE, width: LINE, wrap: LINE },
  hasSecret: [64_000, 'one setting of another program'],
  textWords: [16_000, 'what was summed up of a session'],
}

/** Those that run in a thread of their own: how much they get at most, and after how many milliseconds the thread is ended. */
const IN_THREADS = { htmlToMarkdown: [250_000, 15_000], readHtml: [250_000, 15_000] }

/** @returns {{ file: string, name: string, others: string[], pieces: string[], mostChars: number, threadMs?: number }[]} `file` relative to `root` */
export function textFunctions(root) {
  return ['packages', 'apps'].flatMap((top) =>
    readdirSync(join(root, top))
      .filter((name) => name !== 'testkit')
      .flatMap((name) => sources(join(root, top, name, 'src')))
      .flatMap((file) => inFile(root, file)),
  )
}

function sources(folder) {
  let entries
  try {
    entries = readdirSync(folder, { withFileTypes: true })
  } catch {
    return []
  }
  return entries.flatMap((entry) => {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) return /^(?:__fixtures__|testing|generated)$/.test(entry.name) ? [] : sources(path)
    return entry.name.endsWith('.ts') && !entry.name.endsWith('.test.ts') ? [path] : []
  })
}

function inFile(root, path) {
  const text = readFileSync(path, 'utf8')
  // What starts programs is not given random words to start.
  if (text.includes('node:child_process')) return []
  const pieces = [...new Set([...text.matchAll(LITERAL)].flatMap(([, pattern]) => piecesOf(pattern)))]
  return parseSync(path, text)
    .program.body.flatMap(exported)
    .filter(([name, { params }]) => !Object.hasOwn(LEFT_OUT, name) && isText(params[0]))
    .map(([name, { params }]) => ({
      ...{ file: relative(root, path), name, others: params.slice(1).map(kindOf), pieces },
      mostChars: (IN_THREADS[name] ?? AT_MOST[name])?.[0] ?? Number.POSITIVE_INFINITY,
      threadMs: IN_THREADS[name]?.[1],
    }))
}

/** What a further parameter takes, as far as a call needs to know. */
function kindOf(parameter) {
  if (parameter.type === 'AssignmentPattern') return 'default'
  const type = parameter.typeAnnotation?.typeAnnotation
  switch (type?.type) {
    case 'TSStringKeyword':
      return 'text'
    case 'TSNumberKeyword':
      return 'number'
    case 'TSBooleanKeyword':
      return 'boolean'
    case 'TSFunctionType':
      return 'function'
    case 'TSArrayType':
    case 'TSTypeOperator':
      return 'list'
    case 'TSTypeReference':
      return { AbortSignal: 'signal', ReadonlySet: 'set', ReadonlyMap: 'map' }[type.typeName.name] ?? 'object'
    default:
      return 'object'
  }
}

function exported({ type, declaration }) {
  if (type !== 'ExportNamedDeclaration' || !declaration) return []
  if (declaration.type === 'FunctionDeclaration') return [[declaration.id.name, declaration]]
  if (declaration.type !== 'VariableDeclaration') return []
  return declaration.declarations
    .filter(({ init }) => /FunctionExpression$/.test(init?.type ?? ''))
    .map(({ id, init }) => [id.name, init])
}

function isText(parameter) {
  const named = parameter?.type === 'AssignmentPattern' ? parameter.left : parameter
  return named?.typeAnnotation?.typeAnnotation.type === 'TSStringKeyword' && !NO_TEXT.test(named.name)
}

const CLASSES = { '\\s': ' ', '\\d': '1', '\\w': 'a', '\\n': '\n', '\\r': '\r', '\\t': '\t' }

/** Texts that a pattern nearly matches: its alternatives without what repeats them. */
function piecesOf(pattern) {
  return pattern
    .replace(/\\[bBsSdDwWpPnrtuxk](?:\{[^}]*\})?/g, (found) => CLASSES[found] ?? '')
    .replace(/\(\?(?:[:=!]|<[=!]|<\w+>)/g, '')
    .replace(/\[\^?(\\.|[^\]])[^\]]*\]/g, '$1')
    .replace(/[()^$?*+]|\{\d+,?\d*\}/g, '')
    .replace(/\\(.)/g, '$1')
    .split('|')
    .filter((piece) => piece !== '' && piece.length < 60)
}
