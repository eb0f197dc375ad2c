import { hostKind } from '../url/check-url.js'
import { resolveShellPath } from './context.js'
import { type Invocation, texts } from './invocation.js'
import { payloads, readsInput } from './payloads.js'
import { FETCHERS, INTERPRETERS, interpreterOf, isDecoder, SHELLS } from './programs.js'
import type { CommandRule } from './rule.js'
import { ELEVATORS } from './wrappers.js'

const RISKY_CODE =
  /rmtree|unlink|rmdir|removedirs|\brm(?:Sync)?\b|os\.remove|os\.system|popen|subprocess|child_process|execSync|spawnSync|\bsystem\s*\(|`[^`]*\brm\b|File\.delete|FileUtils|\bfork\b|exec\s*\(|shell_exec|do shell script|Remove-Item|urlopen.*exec|\beval\b|\biex\b|Invoke-Expression/

const METADATA = /\b169\.254\.(?:169\.254|170\.2)\b|\b100\.100\.100\.200\b|metadata\.google\.internal|fd00:ec2::254/i

/** What an interpreter is given to run, by an option or on standard input. */
function inlineCode(invocation: Invocation): readonly string[] {
  const family = interpreterOf(invocation.name)
  if (family === null) return []
  const options = INTERPRETERS[family]!
  const words = texts(invocation.args)
  const given = words.flatMap((word, at) => {
    const before = words[at - 1] ?? ''
    if (options.includes(before) || (/^-\w*[eEc]$/.test(before) && family !== 'node')) return [word]
    const option = options.find((name) => word.startsWith(name.startsWith('--') ? `${name}=` : name))
    return option === undefined || options.includes(word) ? [] : [word.slice(option.length)]
  })
  const { text } = invocation.input
  return text !== null && readsInput(invocation) ? [...given, text] : given
}

const comesFromOutside = (from: readonly Invocation[]): boolean =>
  from.some(({ name, args }) => FETCHERS.includes(name) || isDecoder(name, texts(args)))

const isRunner = ({ name }: Invocation): boolean =>
  SHELLS.includes(name) || interpreterOf(name) !== null || ['eval', 'source', '.'].includes(name)

/** The command `e` and the flag `e` of `s` run a shell. */
const SED_RUNS =
  /(?:^|[;\n])\s*(?:\d+|\$|\/[^/]*\/)?\s*e(?:\s|$)|(?:^|[;\n{])\s*(?:\d+|\$|\/[^/]*\/)?\s*s([/|#,])(?:\\.|(?!\1)[^\\])*\1(?:\\.|(?!\1)[^\\])*\1[gpimMI\d]*e/

/** Commands that run what cannot be seen, or with more rights. */
export const EXECUTION_RULES: readonly CommandRule[] = Object.freeze([
  {
    rule: 'remote-to-shell',
    reason: 'runs downloaded or decoded text as a program',
    matches: (invocation: Invocation) => {
      const computed = invocation.program.scripts.length > 0 || isRunner(invocation)
      if (computed && comesFromOutside(invocation.inner)) return true
      if (
        isRunner(invocation) &&
        (readsInput(invocation) || invocation.via === 'xargs') &&
        comesFromOutside(invocation.input.from)
      )
        return true
      return runsDownload(invocation)
    },
  },
  {
    rule: 'piped-shell',
    reason: 'runs text as commands that cannot be seen beforehand',
    programs: SHELLS,
    matches: (invocation: Invocation) => {
      const script = payloads(invocation)[0]
      if (invocation.via !== null)
        return script === undefined || (script.type === 'text' && script.text.startsWith('{}'))
      const isHanded = invocation.redirects.some(({ operator, target }) => operator === '<<<' && target.dynamic)
      return script === undefined && readsInput(invocation) && (isHanded || invocation.input.from.length > 0)
    },
  },
  {
    rule: 'computed-command',
    reason: 'runs a command whose name is only known when it runs',
    matches: ({ program, name, args }: Invocation) => {
      if (runsVariable(name, args)) return true
      const base = name === '' ? '' : program.mask.slice(program.text.lastIndexOf('/') + 1)
      if (program.scripts.length > 0 && base.includes('d')) return true
      if (/[*?[]/.test(program.text) && program.mask.includes('u') && name !== '[' && program.text !== '[[')
        return /u/.test(base)
      if (!base.includes('d') || !program.dynamic) return false
      return /[uq]/.test(base) || texts(args).some((word) => /^-\w*[rRf]|^[/~]/.test(word))
    },
  },
  {
    rule: 'inline-code',
    reason: 'runs code that deletes files or starts programs',
    matches: (invocation: Invocation) => inlineCode(invocation).some((code) => RISKY_CODE.test(code)),
  },
  {
    rule: 'metadata-endpoint',
    reason: 'asks a cloud metadata service, which hands out credentials',
    matches: (invocation: Invocation) => inlineCode(invocation).some((code) => METADATA.test(code)),
  },
  {
    rule: 'elevated',
    reason: 'runs with administrator rights',
    matches: ({ elevated, name }: Invocation) => elevated || ELEVATORS.includes(name),
  },
  {
    rule: 'metadata-endpoint',
    reason: 'asks a cloud metadata service, which hands out credentials',
    programs: FETCHERS,
    matches: ({ args }: Invocation) =>
      texts(args).some((word) => {
        const url = /^[a-z][a-z0-9+.-]*:\/\//i.test(word) ? word : `http://${word}`
        return (
          !word.startsWith('-') &&
          URL.canParse(url) &&
          hostKind(new URL(url).hostname) === 'metadata' &&
          /[.:\d]/.test(word)
        )
      }),
  },
  {
    rule: 'runs-program-option',
    reason: 'uses an option that starts another program',
    matches: ({ name, args }: Invocation) => {
      const words = texts(args)
      const some = (pattern: RegExp): boolean => words.some((word) => pattern.test(word))
      if (name === 'tar')
        return some(/^--(?:to-command|checkpoint-action|use-compress-program|rsh-command|info-script)/)
      if (name === 'rg') return some(/^--(?:pre|hostname-bin)(?:=|$)/)
      if (name === 'sort') return some(/^--compress-program/)
      if (name === 'split') return some(/^--filter/)
      if (name === 'git') {
        return (
          some(
            /^(?:alias\.[^=]+=!|(?:core\.(?:pager|editor|sshCommand|fsmonitor|hooksPath)|diff\.external|.*\.textconv)=)/i,
          ) ||
          some(/^--(?:upload-pack|receive-pack|open-files-in-pager)/) ||
          (words.includes('grep') && some(/^-O./))
        )
      }
      if (name === 'ssh' || name === 'scp' || name === 'sftp')
        return some(/^(?:-o)?(?:ProxyCommand|LocalCommand|PermitLocalCommand)\b/i) || some(/^-F/)
      if (name === 'rsync')
        return words.some((word, at) => /^(?:-\w*e|--rsh)$/.test(words[at - 1] ?? '') && !/^ssh(?:\s|$)/.test(word))
      if (name === 'sed' || name === 'gsed') return some(SED_RUNS)
      if (name === 'less' || name === 'more') return some(/^\+.*!/)
      if (name === 'zip') return some(/^(?:-TT|--unzip-command)/)
      if (/^[gmn]?awk$/.test(name)) return some(/\bsystem\s*\(|\|\s*"|\|&|getline\s*<|print[^;}]*\|\s*/)
      if (name === 'vim' || name === 'vi' || name === 'ex') return some(/^[-+]?.*:?!|system\(/)
      return name === 'man' && some(/^(?:-P|--pager)/)
    },
  },
])

/** Whether all that a shell is told to run is one variable. */
function runsVariable(name: string, args: Invocation['args']): boolean {
  const isTold = name === 'eval' || (SHELLS.includes(name) && texts(args).some((word) => /^-\w*c$/.test(word)))
  return isTold && args.some(({ text, dynamic }) => dynamic && /^\$\{?[A-Za-z_]\w*\}?$/.test(text))
}

function runsDownload(invocation: Invocation): boolean {
  const { downloads, context, program } = invocation
  const isDownload = (path: string): boolean => downloads.has(resolveShellPath(path, context))
  if (downloads.size === 0) return false
  if (program.text.includes('/') && isDownload(program.text)) return true
  return isRunner(invocation) && texts(invocation.args).some((word) => !word.startsWith('-') && isDownload(word))
}
