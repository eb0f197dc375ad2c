import { existsSync } from 'node:fs'
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
 * The arguments of bubblewrap that hold a command to `places`: the rest of the file system is read-only. It gets `env` and no other
 * variable. `namespaces` are file descriptors of the client.
 */
export function bubblewrapArgs(
  places: readonly Place[],
  {
    network,
    namespaces,
    env,
  }: {
    readonly network: boolean
    readonly namespaces: { readonly user: number; readonly pid: number }
    readonly env: Readonly<Record<string, string>>
  },
): string[] {
  const hidden = places.flatMap((place) => (place.type === 'hide' && place.isDirectory ? [place.path] : []))
  // Who works in the root of the file system may write all of it that is not hidden.
  const isRoot = ({ type, path }: Place) => type === 'write' && path === '/'
  return [
    ...['--userns', String(namespaces.user), '--pidns', String(namespaces.pid)],
    ...['--unshare-ipc', '--cap-drop', 'ALL'],
    ...(network ? [] : ['--unshare-net']),
    ...[places.some(isRoot) ? '--bind' : '--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc'],
    ...KERNEL_SWITCHES.filter(existsSync).flatMap((path) => ['--ro-bind', path, path]),
    ...['--tmpfs', '/run', ...RUN_KEPT.filter(existsSync).flatMap((path) => ['--ro-bind', path, path])],
    ...places.filter((place) => !isRoot(place) && !OF_THE_KERNEL.test(place.path)).flatMap(mount),
    // Last, because the places inside had to be made first.
    ...['/run', ...hidden].flatMap((path) => ['--remount-ro', path]),
    // Else a command would run somewhere else when its folder is out of sight.
    ...(env['PWD'] === undefined ? [] : ['--chdir', env['PWD']]),
    '--clearenv',
    ...Object.entries(env).flatMap(([name, value]) => ['--setenv', name, value]),
  ]
}

function mount(place: Place): string[] {
  switch (place.type) {
    case 'write':
      return ['--bind', place.path, place.path]
    case 'read':
      return ['--ro-bind', place.path, place.path]
    case 'hide':
      // Passing through to places inside is all that is left of a hidden folder; a device cannot be opened here at all.
      return place.isDirectory ? ['--perms', '0111', '--tmpfs', place.path] : ['--ro-bind', '/dev/null', place.path]
    default:
      return place satisfies never
  }
}
