import { hostKind } from '../url/check-url.js'
import { resolveShellPath } from './context.js'
import { inlineCode, isRiskyCode, mayWriteFiles, pathsInCode } from './inline-code.js'
import { type Invocation, texts } from './invocation.js'
import { mayName } from './may-name.js'
import { payloads, readsInput } from './payloads.js'
import { printsSettings } from './prints-settings.js'
import { PROGRAMS } from './program-tables.js'
import { interpreterOf, isDecoder } from './programs.js'
import { usesNetwork, writesBeyond } from './reaching-code.js'
import { isSecretPath } from './reads-secrets.js'
import type { CommandRule } from './rule.js'
import { runsShell } from './sed-script.js'
import { MAX_ADDRESS } from './sends-data.js'

const METADATA = /\b169\.254\.(?:169\.254|170\.2)\b|\b100\.100\.100\.200\b|metadata\.google\.internal|fd00:ec2::254/i

const comesFromOutside = (from: readonly Invocation[]): boolean =>
  from.some(({ name, args }) => PROGRAMS.fetchers.includes(name) || isDecoder(name, texts(args)))

const isRunner = ({ name }: Invocation): boolean =>
  PROGRAMS.shells.includes(name) || interpreterOf(name) !== null || ['eval', 'source', '.'].includes(name)

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
    programs: PROGRAMS.shells,
    matches: (invocation: Invocation) => {
      const script = payloads(invocation)[0]
      if (invocation.via !== null)
        return script === undefined || (script.type === 'text' && script.text.startsWith('{}'))
      const isHanded = invocation.redirects.some(
        ({ operator, target }) => (operator === '<<<' && target.dynamic) || (operator === '<&' && target.text !== '0'),
      )
      // What an earlier command opened.
      const isOpened = script === undefined && texts(invocation.args).some((word) => OPENED.test(word))
      if (isOpened) return true
      return script === undefined && readsInput(invocation) && (isHanded || invocation.input.from.length > 0)
    },
  },
  {
    rule: 'piped-shell',
    reason: 'runs lines as commands that cannot be seen beforehand',
    programs: ['parallel'],
    matches: ({ args }: Invocation) => !texts(args).some((word) => !word.startsWith('-') || word.startsWith(':::')),
  },
  {
    rule: 'unseen-settings',
    reason: 'has a program take code or settings from text that cannot be seen beforehand',
    matches: (invocation: Invocation) => invocation.context.isolated !== true && takesUnseen(invocation),
  },
  {
    rule: 'computed-command',
    reason: 'runs a command whose name is only known when it runs',
    matches: ({ program, name, args, context }: Invocation) => {
      if (runsVariable(name, args)) return true
      // `"$@"`, and outside isolation every name that a variable holds.
      if (program.dynamic && program.text === '' && program.scripts.length === 0) return true
      const base = name === '' ? '' : program.mask.slice(program.text.lastIndexOf('/') + 1)
      if (program.scripts.length > 0 && base.includes('d')) return !printsSettings(program.text)
      if (/[*?[]/.test(program.text) && program.mask.includes('u') && name !== '[' && program.text !== '[[')
        return /u/.test(base)
      if (!base.includes('d') || !program.dynamic) return false
      if (!context.isolated) return true
      return /[uq]/.test(base) || texts(args).some((word) => /^-\w*[rRf]|^[/~]/.test(word))
    },
  },
  {
    rule: 'inline-code',
    reason: 'runs code that deletes files or starts programs',
    matches: (invocation: Invocation) =>
      inlineCode(invocation).some((code) =>
        isRiskyCode(code, invocation.context.isolated === true && invocation.context.outside !== true),
      ),
  },
  {
    rule: 'inline-code',
    reason: 'runs code that changes files outside the workspace',
    matches: (invocation: Invocation) => !invocation.context.isolated && inlineCode(invocation).some(writesBeyond),
  },
  {
    rule: 'inline-code',
    reason: 'runs code that reads or changes keys, or what decides about programs',
    matches: (invocation: Invocation) =>
      inlineCode(invocation).some((code) =>
        pathsInCode(code).some(
          (path) =>
            mayName(path, 'read', invocation.context) !== null ||
            (mayWriteFiles(code) && mayName(path, 'write', invocation.context) !== null) ||
            (usesNetwork(code) && isSecretPath(path)),
        ),
      ),
  },
  {
    rule: 'metadata-endpoint',
    reason: 'asks a cloud metadata service, which hands out credentials',
    matches: (invocation: Invocation) => inlineCode(invocation).some((code) => METADATA.test(code)),
  },
  {
    rule: 'process-memory',
    reason: 'looks into the memory of a running program',
    programs: PROGRAMS.memoryReaders,
    matches: ({ name, args }: Invocation) =>
      /^(?:gcore|procdump|vmmap|frida.*|jmap|reptyr|leaks|pmap)$/.test(name)
        ? args.length > 0
        : texts(args).some((word) =>
            /^(?:-[a-zA-Z]*p\d*|--pid(?:=.*)?|--attach(?:-pid|-name)?(?:=.*)?|attach|dump)$/.test(word),
          ) ||
          (/^gdb|^lldb|^cgdb/.test(name) && args.some(({ text }) => /^\d+$|^\$\w*PID/.test(text))),
  },
  {
    rule: 'elevated',
    reason: 'runs with administrator rights',
    matches: ({ elevated, name }: Invocation) => elevated || PROGRAMS.elevators.includes(name),
  },
  {
    rule: 'metadata-endpoint',
    reason: 'asks a cloud metadata service, which hands out credentials',
    programs: PROGRAMS.fetchers,
    matches: ({ args }: Invocation) =>
      texts(args).some((word) => {
        const url = /^[a-z][a-z0-9+.-]*:\/\//i.test(word) ? word : `http://${word}`
        return (
          !word.startsWith('-') &&
          url.length < MAX_ADDRESS &&
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
      if (name === 'sed' || name === 'gsed') return runsShell(args)
      if (name === 'less' || name === 'more') return some(/^\+.*!/)
      if (name === 'zip') return some(/^(?:-TT|--unzip-command)/)
      if (/^[gmn]?awk$/.test(name)) return some(/\bsystem\s*\(|\|\s*"|\|&|getline\s*<|\|\s*getline|print[^;}]*\|\s*/)
      if (name === 'vim' || name === 'vi' || name === 'ex') return some(/^[-+]?.*:?!|system\(/)
      return name === 'man' && some(/^(?:-P|--pager)/)
    },
  },
])

/** Options that name a file of code or settings, by program. */
const READS_CODE: Readonly<Record<string, readonly string[]>> = Object.freeze({
  curl: ['-K', '--config'],
  wget: ['--config', '-e', '--execute'],
  sed: ['-f', '--file'],
  gsed: ['-f', '--file'],
  awk: ['-f', '--file'],
  gawk: ['-f', '--file', '-i', '--include', '-l', '--load'],
  mawk: ['-f'],
  nawk: ['-f'],
  make: ['-f', '--file', '--makefile', '--eval'],
  gmake: ['-f', '--file', '--makefile', '--eval'],
  ninja: ['-f'],
  just: ['-f', '--justfile'],
  gdb: ['-x', '--command', '-ix'],
  lldb: ['-s', '--source'],
  vim: ['-S', '-s', '-u'],
  nvim: ['-S', '-s', '-u', '-l'],
  ex: ['-S'],
  emacs: ['-l', '--load', '--script'],
  expect: ['-f'],
  ssh: ['-F'],
  scp: ['-F'],
  sftp: ['-b', '-F'],
  sqlite3: ['-init'],
  dc: ['-f', '--file'],
  gnuplot: ['-c'],
  screen: ['-c'],
  tmux: ['-f', 'source-file', 'source'],
  less: ['--lesskey-src'],
  aria2c: ['-i', '--input-file', '--conf-path'],
  rclone: ['--config'],
  nginx: ['-c'],
  'ansible-playbook': ['-i'],
})

/** Whether such an option is given what the line itself makes up: standard input, a substitution, a file that it wrote before. */
function takesUnseen({ name, args, made, context }: Invocation): boolean {
  const options = Object.hasOwn(READS_CODE, name) ? READS_CODE[name]! : []
  const words = texts(args)
  const isUnseen = (path: string): boolean =>
    /^(?:-|\/dev\/stdin|\/dev\/fd\/\d+|\/proc\/self\/fd\/\d+|<\(.*)$/s.test(path) ||
    made.has(resolveShellPath(path, context))
  return options.some((option) =>
    words.some((word, at) => {
      const before = words[at - 1] ?? ''
      if (option.length > 2 || !option.startsWith('-'))
        return (
          (word.startsWith(`${option}=`) && isUnseen(word.slice(option.length + 1))) ||
          (before === option && isUnseen(word))
        )
      // The last of several letters may be the one, and its value may hang on it.
      const letter = option.slice(1)
      const hanging = new RegExp(`^-[a-zA-Z]*?${letter}(.+)$`, 's').exec(word)?.[1]
      return (
        (hanging !== undefined && isUnseen(hanging)) ||
        (new RegExp(`^-[a-zA-Z]*${letter}$`).test(before) && isUnseen(word))
      )
    }),
  )
}

const OPENED = /^\/(?:dev\/fd|proc\/self\/fd)\/\d+$/

/** Whether all that a shell is told to run is one variable, or one of its own arguments. */
function runsVariable(name: string, args: Invocation['args']): boolean {
  const option = PROGRAMS.shells.includes(name) ? args.findIndex(({ text }) => /^-\w*c$/.test(text)) : -1
  if (name !== 'eval' && option === -1) return false
  const [script] = option === -1 ? args : args.slice(option + 1)
  const isArgument = script?.dynamic === true && script.text === '' && script.scripts.length === 0
  return isArgument || args.some(({ text, dynamic }) => dynamic && /^\$\{?[A-Za-z_]\w*\}?$/.test(text))
}

function runsDownload(invocation: Invocation): boolean {
  const { downloads, context, program } = invocation
  const isDownload = (path: string): boolean => downloads.has(resolveShellPath(path, context))
  if (downloads.size === 0) return false
  if (program.text.includes('/') && isDownload(program.text)) return true
  return isRunner(invocation) && texts(invocation.args).some((word) => !word.startsWith('-') && isDownload(word))
}
