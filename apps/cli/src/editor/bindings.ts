// Keys of the person's own: each stands for the key that does the same by default, so that nothing else knows of them.

/** What keys do, by the name that `display.keys` has for it: the keys, the first of which stands for all. */
const ACTIONS: Readonly<Record<string, readonly string[]>> = {
  submit: ['enter'],
  steer: ['alt+s'],
  newline: ['alt+enter', 'ctrl+j', 'shift+enter'],
  complete: ['tab'],
  stop: ['escape'],
  interrupt: ['ctrl+c'],
  search: ['ctrl+r'],
  editor: ['ctrl+g'],
  stash: ['ctrl+s'],
  redraw: ['ctrl+l'],
  suspend: ['ctrl+z'],
  leave: ['ctrl+d'],
  left: ['left', 'ctrl+b'],
  right: ['right', 'ctrl+f'],
  'word-left': ['alt+b', 'ctrl+left', 'alt+left'],
  'word-right': ['alt+f', 'ctrl+right', 'alt+right'],
  'line-start': ['home', 'ctrl+a'],
  'line-end': ['end', 'ctrl+e'],
  'erase-left': ['backspace', 'shift+backspace', 'ctrl+h'],
  'erase-right': ['delete'],
  'kill-word-left': ['ctrl+w', 'alt+backspace', 'ctrl+backspace'],
  'kill-word-right': ['alt+d'],
  'kill-to-start': ['ctrl+u'],
  'kill-to-end': ['ctrl+k'],
  yank: ['ctrl+y'],
  undo: ['ctrl+_', 'ctrl+/'],
  up: ['up'],
  down: ['down'],
  'history-back': ['ctrl+p'],
  'history-forward': ['ctrl+n'],
  'editor-prefix': ['ctrl+x'],
}

/** Whoever has lost these can neither send nor leave. */
const KEPT = new Set(['enter', 'ctrl+c'])
const MODIFIERS = ['ctrl', 'alt', 'shift']
const NAMED = new Set(
  'enter tab escape backspace delete insert home end pageup pagedown up down left right space'
    .split(' ')
    .concat(Array.from({ length: 12 }, (_, index) => `f${index + 1}`)),
)
/** Between the two keys of a chord. */
const THEN = '>'
/** Help has room for so many keys. */
const MAX_NAMED = 2
const NO_KEY = 'none'

/** Keys as a person has them. */
export interface Bindings {
  /** What a key stands for, or two that follow each other, `ctrl+k>o`; empty where it does nothing any more. Keys that are not in it are as usual. */
  readonly stands: ReadonlyMap<string, string>
  /** What of the configuration has no effect, and what a key does no longer; a line each. */
  readonly problems: readonly string[]
  /** The keys of an action as help names them: `Ctrl-O or Ctrl-R`. */
  name(action: string): string
}

/** Reads `display.keys`: the keys of an action, apart by spaces, in place of those it has by default; `ctrl+k>o` is one key after the other. */
export function readBindings(chosen: Readonly<Record<string, string | undefined>>): Bindings {
  const problems: string[] = []
  const say = (line: string) => problems.push(`display.keys: ${line}`)
  const wanted = new Map<string, readonly string[]>()
  for (const [action, text = ''] of Object.entries(chosen)) {
    if (!Object.hasOwn(ACTIONS, action)) say(`there is no "${action}". There are: ${Object.keys(ACTIONS).join(', ')}.`)
    else wanted.set(action, keysIn(text, action, say))
  }
  const taken = new Map<string, string>()
  for (const [action, keys] of wanted) {
    for (const key of keys) {
      const other = taken.get(key)
      if (other === undefined) taken.set(key, action)
      else say(`${key} is given to ${other} and to ${action}; it stays with ${other}.`)
    }
  }
  const begin = (key: string) => [...taken.keys()].find((other) => other.startsWith(`${key}${THEN}`))
  for (const [key, action] of taken)
    if (begin(key) !== undefined) say(`${key} begins ${begin(key)}, so that it does not do ${action}.`)
  const stands = new Map<string, string>()
  const keysOf = new Map<string, string[]>()
  for (const [action, usual] of Object.entries(ACTIONS)) {
    const isChosen = wanted.has(action)
    const own = isChosen ? wanted.get(action)!.filter((key) => taken.get(key) === action) : usual
    const left = own.filter((key) => isChosen || !taken.has(key))
    for (const key of isChosen ? usual : []) if (!taken.has(key) && !KEPT.has(key)) stands.set(key, '')
    const lost = isChosen ? [] : usual.filter((key) => taken.has(key))
    for (const key of lost) say(`${key} does ${taken.get(key)} now and no longer ${action}.`)
    for (const key of isChosen ? [] : left.filter((one) => begin(one) !== undefined))
      say(`${key} begins ${begin(key)} now and no longer does ${action}.`)
    keysOf.set(action, [...left, ...usual.filter((key) => KEPT.has(key) && !left.includes(key))])
    for (const key of left) if (!usual.includes(key)) stands.set(key, usual[0]!)
  }
  return {
    stands,
    problems,
    name: (action) => (keysOf.get(action) ?? []).slice(0, MAX_NAMED).map(shownKey).join(' or ') || 'no key',
  }
}

function keysIn(text: string, action: string, say: (line: string) => void): readonly string[] {
  const words = text
    .trim()
    .toLowerCase()
    .split(/[\s,]+/)
  if (words.length === 1 && words[0] === NO_KEY) return []
  return words.flatMap((word) => {
    const key = normalKeys(word)
    if (key === null) say(`${action}: "${word}" is no key such as ctrl+o, alt+enter or f2.`)
    else if (KEPT.has(key.split(THEN)[0]!) && !ACTIONS[action]!.includes(key))
      say(`${action}: ${key} stays what it is.`)
    else return [key]
    return []
  })
}

/** One key, or a chord: the second key of one may be a letter, since nothing is typed by it. */
function normalKeys(word: string): string | null {
  const [first = '', second, ...more] = word.split(THEN)
  const begin = normalKey(first)
  if (second === undefined || begin === null) return begin
  const end = /^[^\s>]$/u.test(second) ? second : normalKey(second)
  return more.length > 0 || end === null ? null : `${begin}${THEN}${end}`
}

/** A key as the decoder names it; `null` for what is none, and for a letter, which types itself. */
function normalKey(word: string): string | null {
  const parts = word.split('+')
  const base = parts.pop()!
  const modifiers = MODIFIERS.filter((modifier) => parts.includes(modifier))
  if (modifiers.length !== parts.length) return null
  const isLetter = [...base].length === 1
  if (!isLetter && !NAMED.has(base)) return null
  if (isLetter && (modifiers.length === 0 || modifiers.includes('shift'))) return null
  return [...modifiers, base].join('+')
}

/** `ctrl+o` as help writes it. */
function shownKey(key: string): string {
  const names: Readonly<Record<string, string>> = { escape: 'Esc', pageup: 'PageUp', pagedown: 'PageDown' }
  if (key.includes(THEN)) return key.split(THEN).map(shownKey).join(' ')
  return key
    .split('+')
    .map((part) => (Object.hasOwn(names, part) ? names[part]! : part.charAt(0).toUpperCase() + part.slice(1)))
    .join('-')
}
