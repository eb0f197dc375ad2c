import { existsSync } from 'node:fs'
import { dirname } from 'node:path'
import { emptyHome } from './empty-home.js'
import type { Place } from './plan.js'

/** What programs need of /run, which otherwise holds sockets of services that act for whoever asks. */
const RUN_KEPT = [
  '/run/systemd/resolve',
  '/run/resolvconf',
  '/run/NetworkManager',
  '/run/current-system',
  '/run/wrappers',
  '/run/opengl-driver',
]

/** What a command has of its own, whatever folder it works in. */
const OF_THE_KERNEL = /^\/(?:dev$|(?:proc|sys)(?:$|\/))/

/** Switches of the kernel, which lets root use them even in here. */
const KERNEL_SWITCHES = ['sys', 'sysrq-trigger', 'irq', 'bus', 'acpi', 'scsi', 'mtrr'].map((name) => `/proc/${name}`)

/**
 * Compares the folders that its first arguments name with those open as file descriptors 7, 8 and 9, and replaces itself by the program after
 * `--`: for a bubblewrap that mounts by path alone.
 */
export const CHECK_ROOTS = `for descriptor in 7 8 9; do
  [ "$1" = -- ] && break
  [ "$1" -ef "/proc/self/fd/$descriptor" ] || { echo "$1 was moved or replaced." >&2; exit 126; }
  shift
done
shift
exec "$@" 7>&- 8>&- 9>&-`

/**
 * The arguments of bubblewrap that hold a command to `places`: the rest of the file system is read-only. It gets `env` and no other
 * variable. `namespaces` are file descriptors of the client, `home` is the home directory without links.
 */
export function bubblewrapArgs(
  places: readonly Place[],
  {
    home,
    network,
    namespaces,
    descriptorOf,
    env,
  }: {
    readonly home: string
    readonly network: boolean
    /** What the client has a folder open by that is mounted by nothing else; `null` where by its path. */
    readonly descriptorOf: (path: string) => number | null
    readonly namespaces: { readonly user: number; readonly pid: number }
    readonly env: Readonly<Record<string, string>>
  },
): string[] {
  const base = emptyHome(home, places)
  // What an empty folder was not filled with is out of sight without a mount: each takes a fifth of a millisecond.
  const isAbsent = ({ type, path }: Place) => type === 'hide' && base.folders.includes(dirname(path))
  const mounted = places.filter((place) => isMounted(place) && !isAbsent(place))
  const hidden = mounted.flatMap((place) => (place.type === 'hide' && place.isDirectory ? [place.path] : []))
  return [
    ...['--userns', String(namespaces.user), '--pidns', String(namespaces.pid)],
    ...['--unshare-ipc', '--cap-drop', 'ALL'],
    ...(network ? [] : ['--unshare-net']),
    ...[places.some(isRoot) ? '--bind' : '--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc'],
    ...KERNEL_SWITCHES.filter(existsSync).flatMap((path) => ['--ro-bind', path, path]),
    ...['--tmpfs', '/run', ...RUN_KEPT.filter(existsSync).flatMap((path) => ['--ro-bind', path, path])],
    ...base.args,
    ...mounted.flatMap((place) =>
      mount(place, place.type === 'write' && 'descriptor' in place ? descriptorOf(place.path) : null),
    ),
    // Last, because the places inside had to be made first.
    ...['/run', ...base.folders, ...hidden].flatMap((path) => ['--remount-ro', path]),
    // Else a command would run somewhere else when its folder is out of sight.
    ...(env['PWD'] === undefined ? [] : ['--chdir', env['PWD']]),
    '--clearenv',
    ...Object.entries(env).flatMap(([name, value]) => ['--setenv', name, value]),
  ]
}

/** Who works in the root of the file system may write all of it that is not hidden. */
const isRoot = ({ type, path }: Place): boolean => type === 'write' && path === '/'

/** Whether a place is mounted by itself. */
export function isMounted(place: Place): boolean {
  return !isRoot(place) && !OF_THE_KERNEL.test(place.path)
}

function mount(place: Place, descriptor: number | null): string[] {
  switch (place.type) {
    case 'write':
      return descriptor === null ? ['--bind', place.path, place.path] : ['--bind-fd', String(descriptor), place.path]
    case 'pin':
      // It may be gone by now, and with it what was hidden below.
      return ['--bind-try', place.path, place.path]
    case 'read':
      return ['--ro-bind', place.path, place.path]
    case 'hide':
      // Passing through to places inside is all that is left of a hidden folder; a device cannot be opened here at all.
      return place.isDirectory ? ['--perms', '0111', '--tmpfs', place.path] : ['--ro-bind', '/dev/null', place.path]
    default:
      return place satisfies never
  }
}
