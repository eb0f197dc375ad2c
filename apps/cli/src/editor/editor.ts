// The line editor as a pure state machine: a state and a key give the next state and what the key asks for.
import { graphemes } from './graphemes.js'
import type { KeyInput } from './keys.js'
import { collapsePaste, expandPastes, type Paste, placeholderBefore } from './pastes.js'
import { leaveInsert, pressNormal, VI_BEGIN, type ViState } from './vi.js'

/** A line being edited. `cursor` is an index into `text`, always between whole characters. */
export interface EditorState {
  readonly text: string
  readonly cursor: number
  /** Long pastes whose placeholders may stand in `text`. */
  readonly pastes: readonly Paste[]
  /** What was last cut out, for Ctrl-Y. */
  readonly killed: string
  /** Earlier lines, the newest last. */
  readonly history: readonly Draft[]
  /** Which of them is shown; `null` for the line being written. */
  readonly historyAt: number | null
  /** The line being written, while an earlier one is shown. */
  readonly draft: Draft
  /** A line put aside, which comes back once another one is sent; `null` for none. */
  readonly stash: Draft | null
  /** Ctrl-X was pressed, and the next key says what for. */
  readonly isChord: boolean
  /** The line as it was before each change of it, the newest last; what was typed in one go is one change. */
  readonly undo: readonly UndoneLine[]
  /** Whether the last change was typed, letter by letter. */
  readonly isTyping: boolean
  /** What the keys of vi know; `null` where those of Emacs edit. */
  readonly vi: ViState | null
}

type UndoneLine = Pick<EditorState, 'text' | 'cursor' | 'pastes'>

/** A line as it was typed, and what the placeholders in it stand for. */
export type Draft = Pick<EditorState, 'text' | 'pastes'>

/** A line that was entered. */
export interface SubmittedLine {
  /** Pastes expanded. */
  readonly text: string
  /** As it is shown once it is taken; empty where the terminal shows it already. */
  readonly shown: string
  /** As it was typed, to be kept. */
  readonly draft: Draft
  /** `steer` when it was meant for the run under way. */
  readonly how: 'enter' | 'steer'
}

/** What a key asks of whoever owns the editor. */
export type EditorEffect =
  | { readonly type: 'none' }
  | (SubmittedLine & { readonly type: 'submit' })
  | { readonly type: 'complete' }
  | { readonly type: 'interrupt' }
  /** What is under way is to stop; the line stays. */
  | { readonly type: 'stop' }
  /** An earlier line is looked for. */
  | { readonly type: 'search' }
  /** The line is to be edited in the person's own editor. */
  | { readonly type: 'edit' }
  | { readonly type: 'end' }
  | { readonly type: 'redraw' }
  | { readonly type: 'suspend' }

interface Step {
  readonly state: EditorState
  readonly effect: EditorEffect
}

const NONE: EditorEffect = { type: 'none' }
const EMPTY: Draft = { text: '', pastes: [] }
const MAX_UNDO = 100

/** An empty line with these earlier lines. */
export function createEditorState(history: readonly Draft[] = [], vi: ViState | null = null): EditorState {
  const kept = { killed: '', history, historyAt: null, draft: EMPTY, stash: null, undo: [], isTyping: false }
  return { ...EMPTY, ...kept, cursor: 0, isChord: false, vi }
}

/** Another line in place of the one being written, as it was typed. */
export function withDraft(state: EditorState, { text, pastes }: Draft): EditorState {
  return { ...state, text, pastes, cursor: text.length, historyAt: null, draft: EMPTY }
}

/** The line and what it stands for replaced; history and the cut text stay. */
export function withText(state: EditorState, text: string): EditorState {
  return insertPaste({ ...state, ...EMPTY, cursor: 0, historyAt: null, draft: EMPTY }, text)
}

/** Text put in at the cursor. */
function insert(state: EditorState, text: string): EditorState {
  return splice(state, state.cursor, state.cursor, text)
}

/** The part of the line from `start` to `end` replaced, the cursor after it. */
export function splice(state: EditorState, start: number, end: number, text: string): EditorState {
  return {
    ...state,
    text: state.text.slice(0, start) + text + state.text.slice(end),
    cursor: start + text.length,
  }
}

/** Takes one input. */
export function press(state: EditorState, input: KeyInput): Step {
  const { state: next, effect } = take(state, input)
  if (effect.type === 'submit' || next === state || next.undo !== state.undo) return { state: next, effect }
  if (next.historyAt !== state.historyAt) return { state: { ...next, undo: [], isTyping: false }, effect }
  if (next.text === state.text) return { state: { ...next, isTyping: false }, effect }
  const isTyping = input.type === 'text' && !/\s/.test(input.text)
  const { text, cursor, pastes } = state
  const undo = isTyping && state.isTyping ? state.undo : [...state.undo, { text, cursor, pastes }].slice(-MAX_UNDO)
  return { state: { ...next, undo, isTyping }, effect }
}

function take(state: EditorState, input: KeyInput): Step {
  switch (input.type) {
    case 'text':
      return state.vi?.mode === 'normal'
        ? commands(state, input.text)
        : { state: insert(state, input.text), effect: NONE }
    case 'paste':
      return { state: insertPaste(state, clean(input.text)), effect: NONE }
    case 'key':
      return pressKey(state, input.key)
    default:
      return input satisfies never
  }
}

/** Characters in the normal mode of vi. */
function commands(before: EditorState, text: string): Step {
  let state = before
  for (const [index, character] of [...text].entries()) {
    const { line, vi, asks } = pressNormal(state, state.vi!, character)
    state = { ...state, ...line, vi }
    if (asks === 'up' || asks === 'down') state = EDITS[asks]!(state)
    else if (asks !== undefined) return { state, effect: { type: asks } }
    // What comes in one piece may begin with a command and go on with words.
    if (vi.mode === 'insert') return press(state, { type: 'text', text: [...text].slice(index + 1).join('') })
  }
  return { state, effect: NONE }
}

/** The keys that mean something else in vi; `null` for the others. */
function pressVi(state: EditorState, vi: ViState, key: string): Step | null {
  if (key === 'escape' && vi.mode === 'insert') {
    const left = leaveInsert(state, vi)
    return { state: { ...state, ...left.line, vi: left.vi }, effect: NONE }
  }
  if (key === 'escape' && vi.pending !== '') return { state: { ...state, vi: { ...vi, pending: '' } }, effect: NONE }
  if (key === 'backspace' && vi.mode === 'normal') return { state: left(state), effect: NONE }
  return null
}

function pressKey(before: EditorState, key: string): Step {
  const vi = before.vi ? pressVi(before, before.vi, key) : null
  if (vi) return vi
  const state = before.isChord ? { ...before, isChord: false } : before
  if (before.isChord && key === 'ctrl+e') return { state, effect: { type: 'edit' } }
  if (key === 'enter') {
    const continues = state.text.slice(0, state.cursor).endsWith('\\')
    return continues
      ? { state: splice(state, state.cursor - 1, state.cursor, '\n'), effect: NONE }
      : submit(state, 'enter')
  }
  if (key === 'alt+s') return submit(state, 'steer')
  if (key === 'ctrl+d' && state.text === '') return { state, effect: { type: 'end' } }
  const effect = EFFECTS[key]
  if (effect) return { state, effect }
  const edit = EDITS[key]
  return { state: edit ? edit(state) : state, effect: NONE }
}

const EFFECTS: Readonly<Record<string, EditorEffect>> = {
  tab: { type: 'complete' },
  'ctrl+c': { type: 'interrupt' },
  escape: { type: 'stop' },
  'ctrl+r': { type: 'search' },
  'ctrl+g': { type: 'edit' },
  'ctrl+l': { type: 'redraw' },
  'ctrl+z': { type: 'suspend' },
}

const newLine = (state: EditorState) => insert(state, '\n')
const left = (state: EditorState) => moveTo(state, before(state))
const right = (state: EditorState) => moveTo(state, after(state))
const wordLeft = (state: EditorState) => moveTo(state, wordBefore(state))
const wordRight = (state: EditorState) => moveTo(state, wordAfter(state))
const lineHome = (state: EditorState) => moveTo(state, lineStart(state))
const lineLast = (state: EditorState) => moveTo(state, lineEnd(state))
const eraseLeft = (state: EditorState) => splice(state, before(state), state.cursor, '')
const killWord = (state: EditorState) => kill(state, wordBefore(state), state.cursor)

const EDITS: Readonly<Record<string, (state: EditorState) => EditorState>> = {
  'alt+enter': newLine,
  'shift+enter': newLine,
  'ctrl+j': newLine,
  left,
  'ctrl+b': left,
  right,
  'ctrl+f': right,
  'ctrl+left': wordLeft,
  'alt+left': wordLeft,
  'alt+b': wordLeft,
  'ctrl+right': wordRight,
  'alt+right': wordRight,
  'alt+f': wordRight,
  home: lineHome,
  'ctrl+a': lineHome,
  end: lineLast,
  'ctrl+e': lineLast,
  backspace: eraseLeft,
  'shift+backspace': eraseLeft,
  'ctrl+h': eraseLeft,
  delete: (state) => moveTo(splice(state, state.cursor, after(state), ''), state.cursor),
  'ctrl+d': (state) => moveTo(splice(state, state.cursor, after(state), ''), state.cursor),
  'ctrl+w': killWord,
  'alt+backspace': killWord,
  'ctrl+backspace': killWord,
  'alt+d': (state) => kill(state, state.cursor, wordAfter(state)),
  'ctrl+u': (state) => kill(state, lineStart(state), state.cursor),
  'ctrl+k': (state) => kill(state, state.cursor, lineEnd(state)),
  'ctrl+x': (state) => ({ ...state, isChord: true }),
  'ctrl+s': putAside,
  'ctrl+y': (state) => insert(state, state.killed),
  'ctrl+_': undo,
  'ctrl+/': undo,
  up: (state) => vertical(state, -1) ?? recall(state, -1),
  'ctrl+p': (state) => recall(state, -1),
  down: (state) => vertical(state, 1) ?? recall(state, 1),
  'ctrl+n': (state) => recall(state, 1),
}

function submit(state: EditorState, how: 'enter' | 'steer'): Step {
  const shown = state.text.trim()
  const text = expandPastes(state.text, state.pastes).trim()
  if (text === '') return { state: { ...state, ...EMPTY, cursor: 0 }, effect: NONE }
  const draft = { text: shown, pastes: state.pastes.filter(({ placeholder }) => shown.includes(placeholder)) }
  const history = [...state.history.filter((line) => line.text !== shown || line.pastes.length > 0), draft]
  const fresh = createEditorState(history, state.vi && VI_BEGIN)
  const next = withDraft({ ...fresh, killed: state.killed }, state.stash ?? EMPTY)
  return { state: next, effect: { type: 'submit', text, shown, draft, how } }
}

/** The line as it was before the last change. */
function undo(state: EditorState): EditorState {
  const last = state.undo.at(-1)
  return last ? { ...state, ...last, undo: state.undo.slice(0, -1), isTyping: false } : state
}

/** The line put aside, in exchange for the one that was. */
function putAside(state: EditorState): EditorState {
  const { text, pastes, stash } = state
  return { ...withDraft(state, stash ?? EMPTY), stash: text.trim() === '' ? null : { text, pastes }, undo: [] }
}

function insertPaste(state: EditorState, pasted: string): EditorState {
  const { inserted, pastes } = collapsePaste(pasted, state.pastes)
  return { ...insert(state, inserted), pastes }
}

/** Pasted text without what a terminal would obey; tabs become spaces so that columns stay known. */
function clean(text: string): string {
  return text.replaceAll('\t', '    ').replace(/[\u0000-\u0009\u000B-\u001F\u007F-\u009F]/g, '')
}

function moveTo(state: EditorState, cursor: number): EditorState {
  return { ...state, cursor }
}

function kill(state: EditorState, start: number, end: number): EditorState {
  return { ...splice(state, start, end, ''), killed: state.text.slice(start, end) || state.killed }
}

function before({ text, cursor, pastes }: EditorState): number {
  const paste = placeholderBefore(text, cursor, pastes)
  if (paste) return cursor - paste.placeholder.length
  const line = text.slice(text.lastIndexOf('\n', cursor - 1) + 1, cursor)
  return line === '' ? Math.max(0, cursor - 1) : cursor - graphemes(line).at(-1)!.length
}

function after({ text, cursor }: EditorState): number {
  const end = text.indexOf('\n', cursor)
  const line = text.slice(cursor, end < 0 ? text.length : end)
  return line === '' ? Math.min(text.length, cursor + 1) : cursor + graphemes(line)[0]!.length
}

function wordBefore({ text, cursor }: EditorState): number {
  return /[\p{L}\p{N}\p{M}_]+[^\p{L}\p{N}\p{M}_]*$|[^\p{L}\p{N}\p{M}_]+$/u.exec(text.slice(0, cursor))?.index ?? 0
}

function wordAfter({ text, cursor }: EditorState): number {
  const found = /^[^\p{L}\p{N}\p{M}_]*[\p{L}\p{N}\p{M}_]*/u.exec(text.slice(cursor))
  return cursor + (found?.[0].length ?? 0)
}

function lineStart({ text, cursor }: EditorState): number {
  return cursor === 0 ? 0 : text.lastIndexOf('\n', cursor - 1) + 1
}

function lineEnd({ text, cursor }: EditorState): number {
  const end = text.indexOf('\n', cursor)
  return end < 0 ? text.length : end
}

/** One line up or down inside the text; `null` at its edge. */
function vertical(state: EditorState, direction: 1 | -1): EditorState | null {
  const start = lineStart(state)
  const column = graphemes(state.text.slice(start, state.cursor)).length
  const target = direction < 0 ? start - 1 : lineEnd(state) + 1
  if (target < 0 || target > state.text.length) return null
  const from = lineStart({ ...state, cursor: target })
  const line = graphemes(state.text.slice(from, lineEnd({ ...state, cursor: target })))
  return moveTo(state, from + line.slice(0, column).join('').length)
}

function recall(state: EditorState, direction: 1 | -1): EditorState {
  const { history, historyAt } = state
  const wanted = (historyAt ?? history.length) + direction
  if (wanted < 0 || wanted > history.length || (historyAt === null && direction > 0)) return state
  const draft = historyAt === null ? { text: state.text, pastes: state.pastes } : state.draft
  if (wanted === history.length) return { ...state, ...draft, cursor: draft.text.length, historyAt: null, draft: EMPTY }
  return { ...withDraft(state, history[wanted]!), historyAt: wanted, draft }
}
