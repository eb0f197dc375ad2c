import { isCriticalPath, resolveShellPath } from './context.js'
import { inlineCode } from './inline-code.js'
import type { Invocation } from './invocation.js'
import { hasOption, readOptions, texts } from './invocation.js'
import { viewsProcess } from './process-views.js'
import type { CommandRule } from './rule.js'
import { ANSWERS_ITSELF } from './rules-hermes.js'
import { writeTargets } from './write-targets.js'

const HARMLESS =
  /^\/dev\/(?:null|zero|full|stdin|stdout|stderr|tty\w*|ptmx|pts\/.*|fd\/.*|shm\/.*|u?random|tcp\/.*|udp\/.*)$/

/** Whether a path below `/dev` is not a disk, memory or port: terminals, `null`, shared memory. */
function isMadeFile(path: string): boolean {
  return HARMLESS.test(path)
}

const BUSES = ['dbus-send', 'gdbus', 'busctl']
const SHUTDOWN = [
  ...['shutdown', 'reboot', 'halt', 'poweroff', 'init', 'telinit', 'systemctl', 'loginctl', 'osascript', ...BUSES],
]
const SYSTEMCTL_SHUTDOWN = [
  'poweroff',
  'reboot',
  'halt',
  'kexec',
  'soft-reboot',
  'emergency',
  'rescue',
  'suspend',
  'hibernate',
]
const FIND_FILTERS = /^-(?:i?name|i?path|i?wholename|i?regex|[acm](?:time|min)|newer\w*|size|empty|user|group|perm)$/

/** What nothing switches off: the machine, a home folder or the say of the person would be lost. */
export const HARDLINE_RULES: readonly CommandRule[] = Object.freeze([
  {
    rule: 'delete-system',
    reason: 'deletes the system or a home folder',
    programs: ['rm', 'rmdir', 'shred', 'srm'],
    matches: ({ args, context, name }: Invocation) => {
      const options = readOptions(args)
      if (name === 'rm' && !hasOption(options, 'rR', 'recursive')) return false
      return name !== 'shred' && options.operands.some((path) => isCriticalPath(path, context))
    },
  },
  {
    rule: 'delete-system',
    reason: 'deletes everything below the system or a home folder',
    programs: ['find'],
    matches: ({ args, context }: Invocation) => {
      const all = texts(args)
      // `-H`, `-L`, `-P`, `-D debug` and `-Olevel` stand in front of the paths.
      const first = all.findIndex((word, at) => !/^-(?:[HLPD]|O\d?)$/.test(word) && all[at - 1] !== '-D')
      const words = first === -1 ? [] : all.slice(first)
      const tests = words.findIndex((word) => /^[-(!]/.test(word))
      const named = words.slice(0, tests === -1 ? words.length : tests)
      // Without one it is the folder at hand.
      const paths = named.length === 0 ? ['.'] : named
      const deletes =
        words.includes('-delete') ||
        words.some(
          (word, at) => /^-(?:exec|ok)/.test(words[at - 1] ?? '') && /(?:^|\/)(?:rm|srm|shred|unlink)$/.test(word),
        )
      return (
        deletes && !words.some((word) => FIND_FILTERS.test(word)) && paths.some((path) => isCriticalPath(path, context))
      )
    },
  },
  {
    rule: 'delete-system',
    reason: 'moves the system or a home folder away',
    programs: ['mv'],
    matches: ({ args, context }: Invocation) =>
      readOptions(args)
        .operands.slice(0, -1)
        .some((path) => isCriticalPath(path, context)),
  },
  {
    rule: 'format-disk',
    reason: 'formats or wipes a disk',
    matches: ({ name, args }: Invocation) => {
      const words = texts(args)
      if (/^(?:mkfs(?:\..+)?|mke2fs|newfs(?:_.+)?|mkswap)$/.test(name)) {
        return words.some((word) => word.startsWith('/dev/') && !isMadeFile(word))
      }
      if (name === 'wipefs') return words.some((word) => /^(?:-\w*a|--all)/.test(word))
      if (name === 'diskutil') return /^(?:erase|partition|zero|secureErase)/i.test(words[0] ?? '')
      const onDisk = words.some((word) => word.startsWith('/dev/') && !isMadeFile(word))
      if (name === 'sfdisk' && onDisk) return words.some((word) => /^--(?:delete|wipe)/.test(word))
      if (name === 'parted' && onDisk) return words.some((word) => /^(?:mklabel|mktable|rm)$/.test(word))
      if (name === 'cryptsetup' && onDisk) return /^(?:luksFormat|luksErase|erase|reencrypt)$/.test(words[0] ?? '')
      if (name === 'hdparm') return words.some((word) => /^--(?:security-erase|trim-sector)/.test(word))
      if (name === 'nvme') return /^(?:format|sanitize)$/.test(words[0] ?? '')
      if (name === 'sgdisk') return words.some((word) => /^(?:-\w*[zZo]|--zap|--clear)/.test(word))
      return name === 'blkdiscard' || (name === 'format' && words.some((word) => /^[a-z]:/i.test(word)))
    },
  },
  {
    rule: 'write-device',
    reason: 'writes to a disk or to the memory of the machine',
    matches: (invocation: Invocation) =>
      writeTargets(invocation).some((path) => {
        const resolved = resolveShellPath(path, invocation.context)
        return (resolved.startsWith('/dev/') && !isMadeFile(resolved)) || resolved === '/proc/sysrq-trigger'
      }),
  },
  {
    rule: 'kill-all',
    reason: 'ends every process',
    programs: ['kill', 'pkill', 'killall', 'killall5'],
    matches: ({ name, args }: Invocation) => killsAll(name, texts(args)),
  },
  {
    rule: 'process-environment',
    reason: 'reads the environment or memory of a process, where the keys of the agent itself are',
    matches: (invocation: Invocation) => viewsProcess(invocation, inlineCode(invocation)),
  },
  {
    rule: 'shutdown',
    reason: 'shuts down or restarts the machine',
    programs: SHUTDOWN,
    matches: ({ name, args }: Invocation) => {
      const words = texts(args)
      if (words.some((word) => ['-c', '--help', '--version', '--show', '-h --help'].includes(word))) return false
      if (name === 'osascript')
        return words.some((word) =>
          /(?:System Events|Finder|loginwindow).*\b(?:shut ?down|restart|log out)\b/i.test(word),
        )
      if (BUSES.includes(name)) return words.some((word) => /\b(?:Reboot|PowerOff|Halt|KExec)\b/.test(word))
      if (name === 'systemctl' || name === 'loginctl') {
        const [verb = '', unit = ''] = words.filter((word) => !word.startsWith('-'))
        const isStarted = verb === 'isolate' || verb === 'start'
        return (
          SYSTEMCTL_SHUTDOWN.includes(verb) || (isStarted && SYSTEMCTL_SHUTDOWN.includes(unit.replace(/\.target$/, '')))
        )
      }
      if (name === 'init' || name === 'telinit') return /^[016sS]$/.test(words.at(-1) ?? '')
      return true
    },
  },
  ANSWERS_ITSELF,
])

function killsAll(name: string, words: readonly string[]): boolean {
  if (name === 'killall5') return true
  const operands = words.filter((word) => !word.startsWith('-'))
  if (name === 'pkill' || name === 'killall') return operands.some((word) => /^(?:\.\*?|\.\+|\*|\^)?$/.test(word))
  const separated = words.indexOf('--')
  const targets = separated === -1 ? words.slice(1) : words.slice(separated + 1)
  if (words.includes('-l')) return false
  return targets.includes('-1') || operands.includes('1')
}
