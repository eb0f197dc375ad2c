import { type Invocation, readOptions, texts } from './invocation.js'
import { endsItself } from './own-processes.js'
import { PROGRAMS } from './program-tables.js'
import type { CommandRule } from './rule.js'
import { destroysData } from './sql.js'
import { outsideWorkspace } from './write-targets.js'

const verbs = (args: Invocation['args'], valued: readonly string[] = []): readonly string[] =>
  readOptions(args, valued).operands

const WHOLE_PLACES = /^(?:\/|\/etc|~|\/var\/run\/docker\.sock)$/

/** What has options of a container behind it, or the name of such a command. */
const STARTS = /^(?:run|create|exec)$/
const GROUPS = /^(?:run|create|exec|compose|container|service|pod)$/
/** Options of these whose next word is no value of theirs. */
const SWITCH =
  /^(?:-[ditPqT]+|--(?:rm|init|detach|interactive|tty|privileged|read-only|publish-all|quiet|no-healthcheck|oom-kill-disable|build|no-TTY|no-deps|service-ports|use-aliases|remove-orphans|replace)|--[\w-]+=.*)$/s
/** Folders that are known to be of the session without their names. */
const OWN_FOLDER = /^(?:\$PWD|\$\{PWD\}|\$\(pwd\)|\$\(git rev-parse --show-toplevel\))(?:\/[^$`]*)?$/

/** The options of a container: what stands behind the image, or the container, is a command within it. */
function containerOptions(args: Invocation['args']): Invocation['args'] {
  const start = args.findIndex(({ text }) => STARTS.test(text))
  if (start < 0) return args
  for (let at = start + 1; at < args.length; at++) {
    const { text, splits } = args[at]!
    if (text.startsWith('-')) {
      const isAttached = /^-[ditPqT]*[^-ditPqT]./s.test(text)
      if (!SWITCH.test(text) && !isAttached && !args[at + 1]?.text.startsWith('-')) at++
    } else if (!splits && !GROUPS.test(text)) return args.slice(start, at)
  }
  return args.slice(start)
}

/** Folders of this machine that a container is given, as written: a word without a slash names a volume. */
function openedFolders(args: Invocation['args']): readonly string[] {
  const words = texts(containerOptions(args))
  const sources = words.flatMap((word, at) => {
    const before = words[at - 1] ?? ''
    const mount = before === '--mount' ? word : /^--mount=(.*)$/s.exec(word)?.[1]
    if (mount !== undefined)
      return [...mount.matchAll(/(?:^|[,"=])\s*(?:source|src|device)\s*=([^,"]*)/gi)].map(([, path = '']) =>
        path.trim(),
      )
    const volume = /^(?:-[ditPqT]*v|--volume)$/.test(before)
      ? word
      : /^(?:--volume=|-[ditPqT]*v=?)(.+)$/s.exec(word)?.[1]
    return volume === undefined ? [] : [/^(?:\$\([^)]*\)|\$\{[^}]*\}|[^:])*/.exec(volume)![0]]
  })
  return sources.filter((path) => /^[/~.$`]/.test(path))
}

/** Whether nobody knows beforehand which folder that is. */
const isUnknownFolder = (path: string): boolean =>
  /^[$`]/.test(path) && (!OWN_FOLDER.test(path) || /(?:^|\/)\.\.(?:\/|$)/.test(path))

function changesSystem(name: string, words: readonly string[]): boolean {
  if (words.some((word) => /^(?:--help|--version|--dry-run|--simulate)$/.test(word))) return false
  const [first = ''] = words.filter((word) => !word.startsWith('-'))
  if (PROGRAMS.accounts.includes(name)) return true
  if (PROGRAMS.systemPackages.includes(name))
    return /^(?:remove|purge|autoremove|erase|uninstall|del|dist-upgrade)$/.test(first)
  switch (name) {
    case 'iptables':
    case 'ip6tables':
      return words.some((word) => /^(?:-[FXPADIR]|--(?:flush|policy|append|delete|insert))$/.test(word))
    case 'nft':
      return /^(?:add|delete|flush|insert|replace|destroy)$/.test(first)
    case 'ufw':
    case 'firewall-cmd':
      return !/^(?:status|)$/.test(first) || words.some((word) => /^--(?:add|remove|set|panic)/.test(word))
    case 'modprobe':
      return !words.some((word) => /^(?:-n|-c|--show.*)$/.test(word))
    case 'sysctl':
      return words.some((word) => /^(?:-w|--write|-p|--system)$/.test(word) || /^[\w.]+=/.test(word))
    case 'mount':
      return words.some((word) => !word.startsWith('-')) || words.includes('-a')
    default:
      return name === 'pacman' && words.some((word) => /^-R/.test(word))
  }
}

/** Commands that stop or destroy what runs elsewhere: services, processes, containers, databases, clouds, registries. */
export const SERVICE_RULES: readonly CommandRule[] = Object.freeze([
  {
    rule: 'stop-service',
    reason: 'stops, restarts or disables a service',
    programs: PROGRAMS.serviceManagers,
    matches: ({ name, args }: Invocation) => {
      const words = verbs(args)
      if (texts(args).includes('--help')) return false
      if (name === 'brew') return words[0] === 'services' && ['stop', 'kill', 'restart'].includes(words[1] ?? '')
      const stops = [
        'stop',
        'disable',
        'mask',
        'kill',
        'unload',
        'bootout',
        'remove',
        'down',
        'exit',
        'delete',
        'isolate',
        'restart',
        'try-restart',
        'reload-or-restart',
      ]
      return words.slice(0, 3).some((word) => stops.includes(word))
    },
  },
  {
    rule: 'stop-service',
    reason: 'stops a service',
    matches: ({ program, args }: Invocation) =>
      /^\/etc\/(?:init|rc)\.d\//.test(program.text) && texts(args)[0] === 'stop',
  },
  {
    rule: 'force-kill',
    reason: 'ends processes without letting them clean up',
    programs: ['kill', 'pkill', 'killall', 'skill', 'taskkill', 'fuser'],
    matches: ({ name, args }: Invocation) => {
      const words = texts(args)
      if (words.includes('-l')) return false
      if (name === 'fuser') return words.some((word) => /^-\w*k/.test(word))
      // All of a user, with no name of a program.
      const isUser = (word: string) => /^(?:-u|-U|--euid|--uid|--user)$/.test(word)
      if (words.some(isUser) && words.every((word, at) => word.startsWith('-') || isUser(words[at - 1] ?? '')))
        return true
      if (name === 'taskkill') return words.some((word) => /^\/f$/i.test(word))
      return words.some(
        (word, index) =>
          /^-(?:9|(?:SIG)?KILL)$/i.test(word) ||
          /^--signal=(?:9|(?:SIG)?KILL)$/i.test(word) ||
          (/^(?:-s|-n|--signal)$/.test(words[index - 1] ?? '') && /^(?:9|(?:SIG)?KILL)$/i.test(word)),
      )
    },
  },
  {
    rule: 'kill-own',
    reason: 'ends Hermes itself, or everything the user runs',
    programs: PROGRAMS.processEnders,
    matches: endsItself,
  },
  {
    rule: 'containers',
    reason: 'stops or removes containers, images or volumes, or opens the machine to a container',
    programs: ['docker', 'podman', 'nerdctl', 'docker-compose', 'podman-compose'],
    matches: ({ name, args, written, context }: Invocation) => {
      const all = texts(args)
      if (all.some((word) => /^(?:-H|--host|--privileged|--pid=host)/.test(word))) return true
      const verb = all.findIndex((word) => /^[a-z]/.test(word))
      const global = all.slice(0, Math.max(verb, 0) + 1)
      const isElsewhere = global.some((word, at) => /^(?:-c|--context)$/.test(all[at - 1] ?? '') && word !== 'default')
      if (name === 'docker' && (isElsewhere || /(?:^|\s)DOCKER_(?:HOST|CONTEXT)=\S/.test(written))) return true
      const opened = openedFolders(args)
      if (
        opened.some((path) => WHOLE_PLACES.test(path) || isUnknownFolder(path)) ||
        outsideWorkspace(opened, context).length > 0
      )
        return true
      const [first = '', second = ''] = name.endsWith('-compose')
        ? ['compose', ...verbs(args, ['-f'])]
        : verbs(args, ['-c', '--context', '-f', '-p'])
      const lifecycle = ['rm', 'rmi', 'prune', 'kill', 'stop', 'remove', 'restart', 'down', 'leave']
      const groups = [
        'container',
        'image',
        'volume',
        'network',
        'system',
        'builder',
        'compose',
        'swarm',
        'stack',
        'service',
        'pod',
        'buildx',
      ]
      return lifecycle.includes(first) || (groups.includes(first) && lifecycle.includes(second))
    },
  },
  {
    rule: 'sql-destructive',
    reason: 'drops, empties or deletes whole tables',
    programs: PROGRAMS.sqlClients,
    matches: destroysData,
  },
  {
    rule: 'sql-destructive',
    reason: 'drops a database',
    programs: ['dropdb', 'dropuser', 'mysqladmin', 'redis-cli', 'mongo', 'mongosh'],
    matches: ({ name, args }: Invocation) =>
      name.startsWith('drop') ||
      /\b(?:drop|dropDatabase|flushall|flushdb|deleteMany\(\s*\{\s*\})/i.test(texts(args).join(' ')),
  },
  {
    rule: 'sql-destructive',
    reason: 'empties or rebuilds a database',
    programs: PROGRAMS.databaseTools,
    matches: ({ name, args }: Invocation) =>
      /(?:^|\s)(?:db:(?:drop|reset|wipe|purge)(?::\w+)?|migrate:(?:fresh|reset)|(?:prisma |^)migrate reset|db push --force-reset|supabase db reset|(?:alembic )downgrade base|manage\.py flush)(?:\s|$)/.test(
        [name, ...texts(args)].join(' '),
      ),
  },
  {
    rule: 'system-settings',
    reason: 'changes accounts, the firewall, the kernel or what is mounted',
    matches: ({ name, args }: Invocation) => changesSystem(name, texts(args)),
  },
  {
    rule: 'publish',
    reason: 'publishes a package for everybody',
    programs: PROGRAMS.publishers,
    matches: ({ name, args }: Invocation) => {
      const words = verbs(args, ['--filter', '-F', '-C', '--dir', '--prefix', '-w', '--workspace', '-p'])
      if (texts(args).includes('--dry-run')) return false
      if (name === 'twine') return words[0] === 'upload'
      if (name === 'gem' || name === 'nuget') return words[0] === 'push'
      if (name === 'dotnet') return words[0] === 'nuget' && words[1] === 'push'
      if (name === 'mvn') return words.includes('deploy')
      if (words[0] === 'run') return false
      return words.slice(0, 3).some((word) => ['publish', 'unpublish', 'yank', 'deprecate'].includes(word))
    },
  },
  {
    rule: 'infrastructure',
    reason: 'deletes or changes things in a cluster or cloud',
    programs: PROGRAMS.infrastructure,
    matches: ({ args }: Invocation) => {
      const words = verbs(args)
      if (
        words.some((word) =>
          /^(?:[\w:-]+:)?(?:delete(?:-.+)?|destroy|uninstall|drain|terminate(?:-.+)?|rb|rm|del|purge|wipe|reset|deleteall)$/.test(
            word,
          ),
        )
      )
        return true
      return words[0] === 'apply' && texts(args).some((word) => /^--?auto-approve/.test(word))
    },
  },
])
