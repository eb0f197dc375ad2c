import { collectInvocations, type Unfollowed } from './collect.js'
import { mayReachFloor } from './floor-words.js'
import { HARDLINE_RULES } from './hardline.js'
import { FORK_BOMB, TOO_LONG } from './reasons.js'
import { type Finding, matching } from './rule.js'

/** Each is looked at alone and with what is around it. */
const MAX_LOOKS = 2000
const MAX_LOOKS_CHARS = 400_000
/** So many commands before one, and after it, may say what it does. */
const BEFORE = 3
const AFTER = 2
const MAX_AROUND = 2000

/** Where one command may end and the next begin, whatever is quoted there. */
const SEPARATOR = /[;\n`]|(?<![<>])&(?!>)|(?<!>)\|/g
const FUNCTION = /(?<![\w:.-])[\w:.-]+\s{0,20}\(\s{0,20}\)\s{0,20}\{[\s\S]{0,200}/g

/**
 * What the hard floor says about texts too long to be followed: cut wherever a command may begin, each piece that speaks of it is looked at.
 * More of them than are looked at, or one that is too long itself, are held like the rest of the floor.
 */
export function plainFindings(unfollowed: readonly Unfollowed[]): readonly Finding[] {
  const looks = unfollowed.flatMap(({ text, context }) => piecesOf(text).map((piece) => ({ text: piece, context })))
  const chars = looks.reduce((sum, { text }) => sum + text.length, 0)
  if (looks.length > MAX_LOOKS || chars > MAX_LOOKS_CHARS) return [TOO_LONG]
  return looks.flatMap(({ text, context }) => {
    const { invocations, forkBombs, unfollowed: rest } = collectInvocations(text, context)
    if (forkBombs.length > 0) return [FORK_BOMB]
    if (rest.length > 0) return [TOO_LONG]
    return invocations.flatMap((invocation) => matching(HARDLINE_RULES, invocation))
  })
}

/** Pieces that speak of the floor, alone and with those around them, and the functions of a text. */
function piecesOf(text: string): readonly string[] {
  const line = text.replaceAll('\0', '').replace(/\r\n/g, '\n').replaceAll('\\\n', '')
  const ends = [...[...line.matchAll(SEPARATOR)].map(({ index }) => index), line.length]
  const from = (at: number) => (at <= 0 ? 0 : ends[at - 1]! + 1)
  const pieces = ends.flatMap((end, at) => {
    const piece = line.slice(from(at), end)
    if (!mayReachFloor(piece)) return []
    const around = line.slice(from(at - BEFORE), ends[at + AFTER] ?? line.length)
    return around.length > MAX_AROUND ? [piece] : [piece, around]
  })
  return [...new Set([...pieces, ...[...line.matchAll(FUNCTION)].map(([found]) => found)])]
}
