import { type Invocation, readOptions, texts } from './invocation.js'

/** How the processes of Hermes are called, and how their whole command lines look. */
const NAMES = Object.freeze(['node', 'hermes', 'hermes-gateway', 'hermes-acp', 'MainThread', 'bun'])
const LINES = Object.freeze([
  'node /usr/lib/node_modules/@hermes/cli/dist/bin.js gateway',
  '/usr/bin/node /usr/local/bin/hermes gateway',
  'hermes chat',
  'hermes gateway start',
  'hermes acp',
  'node apps/gateway/dist/bin.js',
])
/** What a search for them would look for. */
const OWN_WORD = /hermes|\bgateway\b|^node$|\bbin\.js\b/i
const MAX_PATTERN = 100

/** Whether a command ends processes of Hermes, or all that the person has open. */
export function endsItself(invocation: Invocation): boolean {
  const { name, args, inner, input, via } = invocation
  const words = texts(args)
  const { operands } = readOptions(args, ['-s', '--signal', '-u', '-U', '-t', '-P', '-g', '-G'])
  switch (name) {
    case 'pkill':
      return (
        !words.includes('-l') &&
        operands.some((word) =>
          meansOwn(
            word,
            words.some((one) => /^-\w*f|^--full$/.test(one)),
          ),
        )
      )
    case 'killall':
    case 'skill':
      return operands.some((word) => meansOwn(word, false))
    case 'kill':
      if (words.some((word) => /^\$(?:PPID|\{PPID\})$/.test(word))) return true
      return [...inner, ...(via === 'xargs' ? input.from : [])].some(findsOwn)
    case 'loginctl':
      return /^(?:terminate|kill)-/.test(operands[0] ?? '')
    case 'tmux':
      return words.includes('kill-server')
    case 'screen':
      return words.includes('-wipe') || (words.includes('quit') && !words.includes('-S'))
    default:
      return (
        words.some((word) => /^(?:(?:try-)?(?:re)?start|reload|kickstart|stop|kill|disable|delete)$/.test(word)) &&
        words.some((word) => /hermes/.test(word))
      )
  }
}

/** Whether a pattern of `pkill` or `killall` finds a process of Hermes. One that is long or nested is taken to. */
function meansOwn(pattern: string, wholeLine: boolean): boolean {
  if (/^[\w./@ -]+$/.test(pattern)) {
    return wholeLine ? LINES.some((line) => line.includes(pattern)) : NAMES.some((name) => name.includes(pattern))
  }
  if (pattern.length > MAX_PATTERN || /[()*+}{].*[()*+}{].*[()*+}{]/.test(pattern)) return true
  try {
    const expression = new RegExp(pattern)
    return (wholeLine ? [...LINES, ...NAMES] : NAMES).some((text) => expression.test(text))
  } catch {
    return true
  }
}

/** Whether a program looks up processes of Hermes, or reads where one wrote its number. */
function findsOwn({ name, args, redirects }: Invocation): boolean {
  const words = texts([...args, ...redirects.map(({ target }) => target)])
  if (name === 'pgrep' || name === 'pidof')
    return words.some((word) => !word.startsWith('-') && meansOwn(word, words.includes('-f')))
  return words.some((word) => OWN_WORD.test(word))
}
