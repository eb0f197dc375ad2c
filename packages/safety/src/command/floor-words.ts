/** Programs of the hard floor, what rules about all programs look for in their words, and ways to write either in other letters. */
const FLOOR = new RegExp(
  [
    '(?<![\\w-])(?:rm|rmdir|shred|srm|find|mv|kill|pkill|killall5?|ps)(?![\\w-])',
    '(?<![\\w-])(?:mkfs|mke2fs|newfs\\w*|mkswap|wipefs|diskutil|sfdisk|parted|cryptsetup|hdparm|nvme|sgdisk|blkdiscard|format)(?![\\w-])',
    '(?<![\\w-])(?:shutdown|reboot|halt|poweroff|init|telinit|systemctl|loginctl|osascript|dbus-send|gdbus|busctl)(?![\\w-])',
    '/dev/|sysrq-trigger|/proc|environ|psutil|(?<![\\w-])s?maps(?![\\w-])',
    '(?<![\\w-])hermes(?![\\w-])|bin\\.js',
    '(?<![\\w-])(?:base64|xxd|rev)(?![\\w-])',
  ].join('|'),
)
/** Letters and slashes by their numbers, and names of programs put together from bits. */
const LETTERS = new RegExp(
  [
    /\$'|\\(?:x[4-7][\da-f]|0?1[0-7]{2}|u00[4-7]|x2f|0?57|u002f)/,
    /\$\([^()\n]{0,80}\)["']?\w/,
    /(?:^|[\s(])(?:\$\{?\w{1,80}\}?["']?){2}(?:\s|$)/,
    /(?:^|[\s(])\w{0,80}\{[^{}\s]{0,80},[^{}\s]{0,80}\}\w{0,80}\s/,
  ]
    .map(({ source }) => source)
    .join('|'),
  'i',
)

/** Whether a piece of a line speaks of what the hard floor is about. */
export function mayReachFloor(piece: string): boolean {
  if (LETTERS.test(piece)) return true
  const folded = /[^\x20-\x7e]/.test(piece) ? piece.normalize('NFKC').replace(/\p{C}/gu, '') : piece
  return FLOOR.test(folded.replace(/['"\\]|\$(?:[@*]|\{[@*]\})/g, ''))
}
