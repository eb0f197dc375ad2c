// What commands and texts of a skill say that people should look at. Loopback, comments about it and examples are not told from others.

/** Something that a line may do: `first` stands in it, and `later` somewhere after it. Both match in linear time. */
interface Act {
  readonly what: string
  /** `later` may stand in any later line. */
  readonly spansLines?: true
  readonly first: RegExp
  readonly later?: RegExp
}

const PIPED_TO_SHELL = /\|\s*(?:sudo\s+)?(?:ba|z|da|fi)?sh\b/i
const PIPES = 'pipes text into a shell'
/** Not the cell of a table. */
const INTO_SHELL = /\|\s{0,9}(?:\/(?:usr\/)?bin\/)?(?:ba|z|da|k)?sh\b(?![\w.,/-]|\s{0,9}\|)/
const FETCHER = /\b(?:curl|wget|iwr|Invoke-WebRequest)\b/i

const ACTS: readonly Act[] = [
  { what: 'runs what it fetches', first: /(?:curl|wget|fetch|iwr|Invoke-WebRequest)\b/i, later: PIPED_TO_SHELL },
  { what: 'runs what it fetches', first: /(?:ba)?sh\s+<\(\s*(?:curl|wget)/i },
  { what: 'runs what it fetches', first: /\b(?:eval|source|sh\s{1,9}-c)\b.{0,9}\$\(\s{0,9}(?:curl|wget)/i },
  { what: 'runs what it fetches', first: /\b(?:exec|eval)\(\s{0,9}(?:requests|urllib|httpx|urlopen|await\s)/i },
  { what: 'runs what it fetches', first: /\b(?:iex|Invoke-Expression)\b/i },
  {
    ...{ what: 'runs what it fetches', spansLines: true, first: FETCHER },
    later:
      /\bchmod\s{1,9}(?:[ugoa]{0,3}\+[rwxs]{0,3}x|[0-7]{0,2}7[0-7]{1,2})\b|[;&\n]\s{0,9}(?:ba|z|da)?sh\s{1,9}[/.~\w]/,
  },
  { what: PIPES, first: INTO_SHELL },
  {
    what: 'installs from an address',
    first:
      /\b(?:pip3?|pipx|uvx?|npm|npx|pnpm|yarn|bunx?|cargo|gem)\s{1,9}(?!publish\b|login\b|config\b|view\b)(?:[a-z]{1,9}\s{1,9}){0,2}(?:-\S{1,20}\s{1,9}){0,4}(?:git\+|https?:\/\/|git@)/i,
  },
  { what: 'runs encoded text', first: /base64\s+(?:-d|--decode)/i, later: PIPED_TO_SHELL },
  {
    what: 'runs encoded text',
    first: /\beval\s{0,9}\(?\s{0,9}(?:atob|Buffer\.from|base64)|exec\(\s*(?:base64|codecs|zlib)/i,
  },
  {
    what: 'sends files or variables away',
    first: /\b(?:curl|wget|nc|ncat|scp|rsync|https?(?=\s)|httpx|requests\.post|axios|fetch\()/i,
    later:
      /\$\(\s*(?:cat|env|printenv)|~\/\.(?:ssh|aws|config|gnupg|netrc)|\.env\b|process\.env|os\.environ|@\/(?:etc|home)/i,
  },
  {
    what: 'sends files or variables away',
    first: /\b(?:env|printenv|set)\s{0,9}\|/,
    later: /\b(?:curl|wget|nc|ncat|socat|http)\b/,
  },
  { what: 'sends files or variables away', first: /(?:^|[;&|(`])\s{0,9}(?:dig|nslookup|host)\s/, later: /\$\(|`/ },
  { what: 'opens a way in', first: /\/dev\/(?:tcp|udp)\/|\b(?:nc|ncat)\s{1,9}-[a-z]{0,9}[ec]\b/ },
  {
    what: 'reads keys',
    first: /\b(?:cat|less|head|cp|tar|zip|base64|xxd|grep(?!\s{1,9}-[a-z]{0,9}q)|open\(|readFile\w{0,20}\()/i,
    later:
      /\/proc\/(?:self|\d{1,9}|\$\w{1,20})\/environ|\.hermes\/(?:\.env|auth\.json|profiles)|\.gnupg\/|\.kube\/config|\.ssh\/id_|\.aws\/credentials|\.netrc|\.npmrc|\.pypirc|\.git-credentials|\.env\b|auth\.json/i,
  },
  {
    what: 'makes itself stay',
    first: /crontab\s+-(?!l)|\/etc\/cron|systemctl\s+(?:--user\s+)?enable|LaunchAgents|authorized_keys/i,
  },
  {
    what: 'makes itself stay',
    first: />/,
    later: /\.(?:bashrc|zshrc|zshenv|zprofile|profile|bash_profile|bash_login)\b/i,
  },
  { what: 'makes itself stay', first: /core\.hooksPath/i },
  { what: 'makes itself stay', first: />|\b(?:cp|mv|ln|tee|install|chmod)\b/i, later: /\.git\/hooks\//i },
  {
    what: 'writes instructions of agents',
    first: />|\bcp\s|\btee\s/,
    later: /\b(?:CLAUDE|AGENTS|GEMINI|SOUL|MEMORY|USER)\.md\b/,
  },
  {
    what: 'destroys',
    first: /\brm\s+(?:-[a-z-]{1,20}\s+){1,4}(?:\/|~|\$HOME)(?:\s|\/?\*|$)|\bmkfs\.|:\(\)\s*\{\s*:\|:&\s*\}/i,
  },
  { what: 'destroys', first: /\bdd\s/, later: /of=\/dev\// },
  { what: 'becomes root', first: /\bsudo\s+|\bchmod\s+[ugo]{0,3}\+?s\b|setuid\(/i },
  {
    what: 'switches safety off',
    first:
      /\bpermissions\.yaml\b|(?<!\b(?:avoid|never)\s[`"']?)--yolo\b|--dangerously-skip-permissions|--no-verify\b|approvals\.mode\s+off|hermes\s+(?:permissions\s+add|trust\s+add|skills\s+approve|hooks\s+agree)/i,
  },
]

/** What a text may do, each once, with the line where it first stands, from 1. Pure; linear in the text. */
export function actsIn(text: string): readonly { readonly what: string; readonly line: number }[] {
  const found = new Map<string, number>()
  const commands = commandsIn(text)
  // Of most acts nothing stands in most texts, and one look at all of it is quicker than one at each line.
  const whole = commands.map(({ words }) => words).join('\n')
  const possible = ACTS.filter(({ first, later }) => first.test(whole) && (later === undefined || later.test(whole)))
  if (possible.length === 0) return []
  const spanning = new Map(
    possible.filter(({ spansLines }) => spansLines).map((act) => [act, spanBegin(act, commands)]),
  )
  for (const [index, { line, words }] of commands.entries())
    for (const act of possible) {
      if (found.has(act.what)) continue
      if (act.spansLines ? spanning.get(act) === index : isIn(act, words)) found.set(act.what, line)
    }
  // What is known of the text says more.
  if (found.get('runs what it fetches') === found.get(PIPES) || found.get('runs encoded text') === found.get(PIPES))
    found.delete(PIPES)
  return [...found].map(([what, line]) => ({ what, line }))
}

function isIn({ first, later }: Act, words: string): boolean {
  const match = first.exec(words)
  if (match === null) return false
  return later === undefined || later.test(words.slice(match.index + match[0].length))
}

/** Where an act of several lines begins: at its first line alone, so that all of the text is gone through once. -1 for nowhere. */
function spanBegin(act: Act, commands: readonly { readonly words: string }[]): number {
  const begin = commands.findIndex(({ words }) => act.first.test(words))
  const rest = commands.slice(Math.max(0, begin)).map(({ words }) => words)
  return begin >= 0 && isIn(act, rest.join('\n')) ? begin : -1
}

/** Quotes and backslashes in the middle of a word, which a shell takes out. */
const TORN = /(?<=\w)(?:''|""|\\)(?=\w)/g

const CARRIAGE_RETURN = '\r'

/** Lines as a shell takes them: what ends in a backslash, a pipe or a bracket goes on in the next one. */
function commandsIn(text: string): readonly { readonly line: number; readonly words: string }[] {
  const commands: { line: number; words: string }[] = []
  let open: string[] = []
  const lines = text.replace(TORN, '').split('\n')
  for (let index = 0; index < lines.length; index++) {
    const line = lines[index]!
    // Of an empty line nothing is said.
    if (open.length === 0 && (line === '' || line === CARRIAGE_RETURN)) continue
    const goesOn = isOpen(line)
    if (!goesOn && open.length === 0) {
      commands.push({ line: index + 1, words: line })
      continue
    }
    open.push(goesOn && line.includes('\\') ? line.replace(/\\\r?$/, '') : line)
    if (goesOn && index < lines.length - 1) continue
    commands.push({ line: index + 2 - open.length, words: open.join(' ') })
    open = []
  }
  return commands
}

function isOpen(line: string): boolean {
  const last = line.at(-1) === CARRIAGE_RETURN ? line.at(-2) : line.at(-1)
  // A row of a table ends in a bar as well.
  return last !== undefined && '\\|(,{['.includes(last) && !/^\s{0,9}\|.*\|\s{0,9}$/.test(line)
}
