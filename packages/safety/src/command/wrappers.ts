import { toAssignment } from '../shell/parse.js'
import type { Assignment, Word } from '../shell/script.js'

interface Wrapper {
  /** Options whose value is the next word. */
  readonly valued?: readonly string[]
  /** Words of its own before the command. */
  readonly positional?: number
  readonly assignments?: boolean
  /** Words of its own that stand among its options. */
  readonly own?: RegExp
  readonly elevates?: boolean
  /** It runs a command only behind one of these words. */
  readonly verbs?: readonly string[]
  /** With one of these it does not run the command. */
  readonly query?: readonly string[]
}

const WRAPPERS: Readonly<Record<string, Wrapper>> = Object.freeze({
  sudo: {
    valued: [
      '-u',
      '-g',
      '-h',
      '-p',
      '-C',
      '-r',
      '-t',
      '-T',
      '-U',
      '-D',
      '-R',
      '--user',
      '--group',
      '--prompt',
      '--chdir',
    ],
    assignments: true,
    elevates: true,
  },
  doas: { valued: ['-u', '-C'], elevates: true },
  pkexec: { valued: ['--user'], elevates: true },
  env: { valued: ['-u', '--unset', '-C', '--chdir'], assignments: true },
  nohup: {},
  nice: { valued: ['-n'] },
  ionice: { valued: ['-c', '-n', '-p'] },
  time: { valued: ['-f', '-o'] },
  timeout: { valued: ['-s', '-k', '--signal', '--kill-after'], positional: 1 },
  gtimeout: { valued: ['-s', '-k'], positional: 1 },
  stdbuf: { valued: ['-i', '-o', '-e'] },
  setsid: {},
  exec: { valued: ['-a'] },
  command: { query: ['-v', '-V'] },
  builtin: {},
  coproc: {},
  chroot: { positional: 1 },
  unshare: {},
  strace: { valued: ['-e', '-o', '-p', '-s', '-u'] },
  watch: { valued: ['-n', '--interval'] },
  flock: { valued: ['-w', '-E'], positional: 1 },
  nsenter: { valued: ['-t', '--target', '-S', '-G'] },
  setarch: { own: /^(?:x86_64|i[3-6]86|aarch64|arm\w*|ppc\w*|s390x?|linux(?:32|64)|uname26)$/ },
  linux32: {},
  linux64: {},
  prlimit: { valued: ['-o', '--output'] },
  choom: { valued: ['-n', '--adjust'] },
  cgexec: { valued: ['-g'] },
  chpst: { valued: ['-u', '-U', '-b', '-e', '-d', '-o', '-p', '-f', '-c', '-r', '-t', '-m', '-l', '-L', '-n'] },
  daemonize: { valued: ['-c', '-e', '-o', '-p', '-l', '-u', '-E'] },
  perf: { verbs: ['stat', 'record', 'trace'], valued: ['-e', '-o', '-r', '-F', '-C'] },
  'ssh-agent': { valued: ['-a', '-E', '-O', '-P', '-t'] },
  'dbus-launch': {},
  tini: { valued: ['-p', '-e'] },
  'dumb-init': {},
  catchsegv: {},
  watchexec: { valued: ['-w', '-e', '-f', '-i', '-s', '-d', '-W'] },
  dotenv: { valued: ['-e', '-f', '-c', '-v', '-p'] },
  mise: { verbs: ['exec', 'x'], own: /@/ },
  direnv: { verbs: ['exec'], positional: 1 },
  'aws-vault': { verbs: ['exec'], positional: 1 },
  conda: { verbs: ['run'], valued: ['-n', '-p', '--name', '--prefix', '--cwd'] },
  mamba: { verbs: ['run'], valued: ['-n', '-p', '--name', '--prefix', '--cwd'] },
  taskset: { positional: 1 },
  chrt: { valued: ['-T', '-P', '-D'], positional: 1 },
  numactl: { valued: ['-N', '-m', '-i', '-C', '--cpunodebind', '--membind', '--interleave', '--physcpubind'] },
  cpulimit: { valued: ['-l', '-p', '-e'] },
  'systemd-run': { valued: ['-u', '-p', '-t', '-E', '-H', '-M', '--unit', '--property', '--setenv', '--uid', '--gid'] },
  'systemd-inhibit': {},
  firejail: {},
  fakeroot: {},
  eatmydata: {},
  faketime: { valued: ['-f'], positional: 1 },
  torsocks: {},
  torify: {},
  proxychains: { valued: ['-f'] },
  proxychains4: { valued: ['-f'] },
  gosu: { positional: 1, elevates: true },
  'su-exec': { positional: 1, elevates: true },
  setpriv: { valued: ['--reuid', '--regid', '--groups'] },
  'xvfb-run': { valued: ['-n', '-s', '-e', '-f', '-p', '-w'] },
  'dbus-run-session': {},
  unbuffer: {},
  rlwrap: {},
  valgrind: {},
  ltrace: { valued: ['-e', '-o', '-p', '-s', '-u'] },
  entr: {},
  'cross-env': { assignments: true },
  uv: { verbs: ['run'], valued: ['--with', '--python', '-p', '--project', '--directory', '--extra', '--group'] },
  poetry: { verbs: ['run'] },
  pipenv: { verbs: ['run'] },
  pdm: { verbs: ['run'] },
  rye: { verbs: ['run'] },
  bundle: { verbs: ['exec'] },
  pnpm: { verbs: ['exec'] },
  busybox: {},
  toybox: {},
  caffeinate: { valued: ['-t', '-w'] },
  xargs: {
    valued: ['-I', '-n', '-P', '-L', '-d', '-E', '-s', '-a', '--max-args', '--max-procs', '--delimiter', '--arg-file'],
  },
  parallel: { valued: ['-j', '-S', '--jobs', '-a', '--colsep'] },
})

/** Beyond so many nobody means well. */
export const MAX_LAYERS = 30

/** A command without the programs that only run another one. */
interface Unwrapped {
  readonly words: readonly Word[]
  readonly elevated: boolean
  readonly xargs: boolean
  /** Each of those programs with all behind it, the outermost first. */
  readonly layers: readonly (readonly Word[])[]
  /** Text that `env -S` splits into a command. */
  readonly splitText: string | null
}

/** The variables that wrappers such as `env` set, and those of `export` and its kin, as far as they are written there. */
export function assignedVariables({ layers, words }: Pick<Unwrapped, 'layers' | 'words'>): readonly Assignment[] {
  const setting = /^(?:export|declare|typeset|local|readonly|setenv)$/.test(words[0]?.text ?? '') ? words : []
  const outer = layers.map((layer, at) => layer.slice(0, layer.length - (layers[at + 1] ?? words).length))
  return [...outer, setting].flatMap((each) => each.slice(1).flatMap((word) => toAssignment(word) ?? []))
}

/** Programs that run what they are given with more rights. */
export const ELEVATORS = Object.freeze(['sudo', 'doas', 'pkexec', 'su', 'runuser', 'runas', 'sudoedit'])

/** Takes off `sudo`, `env`, `timeout`, `xargs` and their kind with their own options, any number of them. */
export function unwrap(words: readonly Word[], nameOf: (word: Word) => string): Unwrapped {
  let at = 0
  let elevated = false
  let xargs = false
  const layers: (readonly Word[])[] = []
  for (;;) {
    const name = words[at] ? nameOf(words[at]!) : ''
    const wrapper = Object.hasOwn(WRAPPERS, name) ? WRAPPERS[name] : undefined
    if (!wrapper) return { words: words.slice(at), elevated, xargs, layers, splitText: null }
    if (layers.length <= MAX_LAYERS) layers.push(words.slice(at))
    const inner = afterOptions(words, at, wrapper)
    const split = name === 'env' ? splitOption(words, at, inner) : null
    if (split !== null) {
      const text = words.slice(split).map((word) => word.text)
      return {
        ...{ words: [], elevated, xargs, layers },
        splitText: text.join(' ').replace(/^(?:-S|--split-string=?)\s*/, ''),
      }
    }
    elevated ||= wrapper.elevates ?? false
    xargs ||= name === 'xargs' || name === 'parallel'
    // Nothing to run, or a text: the wrapper itself is the command.
    if (inner >= words.length || words[inner]!.text === '-c')
      return { words: words.slice(at), elevated, xargs, layers, splitText: null }
    at = inner
  }
}

/** Where `env` is told to split a text, among its own options. */
function splitOption(words: readonly Word[], start: number, end: number): number | null {
  for (let at = start + 1; at < Math.min(end, words.length); at++)
    if (/^(?:-S|--split-string)/.test(words[at]!.text)) return at
  return null
}

/** Where the command begins that the wrapper at `start` runs; the end of `words` where it runs none. */
function afterOptions(words: readonly Word[], start: number, wrapper: Wrapper): number {
  if (wrapper.verbs && !wrapper.verbs.includes(words[start + 1]?.text ?? '')) return words.length
  let at = start + (wrapper.verbs ? 2 : 1)
  for (; at < words.length; at++) {
    const text = words[at]!.text
    if (text === '--') {
      at++
      break
    }
    if (wrapper.query?.includes(text)) return words.length
    if ((wrapper.assignments && /^\w+=/.test(text)) || wrapper.own?.test(text)) continue
    if (!text.startsWith('-') || text === '-') break
    // The last of several letters may be the one that takes a value.
    if (wrapper.valued?.includes(/^-[a-zA-Z]{2,}$/.test(text) ? `-${text.at(-1)}` : text)) at++
  }
  while (wrapper.assignments && /^\w+=/.test(words[at]?.text ?? '')) at++
  at += wrapper.positional ?? 0
  // `coproc NAME { …; }`
  at += words.slice(at, at + 2).findIndex(({ text }) => text === '{') + 1
  return words[at]?.text === '--' ? at + 1 : at
}
