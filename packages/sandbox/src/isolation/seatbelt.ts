import { dirname } from 'node:path'
import { isWithin } from './paths.js'
import type { Place } from './plan.js'

/**
 * The profile that holds a command of macOS to `places`: everything may be read but what is hidden, nothing written but what is
 * writable; other programs are neither sent events nor signals. @see the profiles in /System/Library/Sandbox/Profiles
 */
export function seatbeltProfile(places: readonly Place[], { network }: { readonly network: boolean }): string {
  return [
    '(version 1)',
    '(allow default)',
    '(deny file-write*)',
    '(allow file-write* (literal "/dev/null") (literal "/dev/zero") (literal "/dev/tty") (regex #"^/dev/(fd/|ttys)"))',
    // The last rule that matches counts, as the last mount does elsewhere.
    ...places.flatMap((place, at) => [rule(place), ...passage(place, places.slice(0, at))]),
    // Sockets of services that act for whoever asks.
    `(deny network-outbound (literal "/private/var/run/docker.sock") (regex #"^/private/tmp/com\\.apple\\.launchd\\."))`,
    '(deny appleevent-send)',
    '(deny signal)',
    '(allow signal (target same-sandbox))',
    ...(network ? [] : ['(deny network*)', '(allow network* (local ip "localhost:*") (remote ip "localhost:*"))']),
  ].join('\n')
}

function rule(place: Place): string {
  const where = `(subpath ${JSON.stringify(place.path)})`
  switch (place.type) {
    case 'write':
      return `(allow file-read* file-write* ${where})`
    case 'read':
      return `(allow file-read* ${where})\n(deny file-write* ${where})`
    case 'hide':
      return `(deny file-read* file-write* ${where})\n(deny network-outbound ${where})`
    case 'pin':
      return `(deny file-write-unlink (literal ${JSON.stringify(place.path)}))`
    default:
      return place satisfies never
  }
}

/** Programs that look where a path leads ask about each folder on it: of a hidden one they see that it is there, not what is in it. */
function passage({ type, path }: Place, before: readonly Place[]): readonly string[] {
  if (type !== 'write' && type !== 'read') return []
  const hidden = before.filter((place) => place.type === 'hide')
  const folders: string[] = []
  for (let above = dirname(path); above !== dirname(above); above = dirname(above))
    if (hidden.some((place) => isWithin(above, place.path))) folders.push(`(literal ${JSON.stringify(above)})`)
  return folders.length === 0 ? [] : [`(allow file-read-metadata ${folders.join(' ')})`]
}
