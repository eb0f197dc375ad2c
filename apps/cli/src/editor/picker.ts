// A question with answers to pick from, as a pure state machine like the editor.
import { createEditorState, type EditorState, press } from './editor.js'
import type { KeyInput } from './keys.js'

/** One answer to pick; `key` is the letter that picks it at once. */
interface PickOption {
  readonly label: string
  readonly key?: string
  /** Its letter or number only marks it, and Enter picks it: for what is not to happen by a slip. Default `false`. */
  readonly needsEnter?: boolean
  /** Words that mean it too, in lower case, where a whole line is the answer. */
  readonly words?: readonly string[]
}

/** What is asked. Numbers pick too; Escape gives no answer. */
export interface PickRequest {
  /** May have several lines; the first is the question. */
  readonly title: string
  /** What is asked about, as it is: lines in a block of their own below the title. Default: none. */
  readonly block?: readonly string[]
  /** What else is to be known, below. Default: nothing. */
  readonly notes?: readonly string[]
  readonly options: readonly PickOption[]
  /** Whether other text is taken. Without options it is all there is. */
  readonly freeText: boolean
  /** The text is not shown. Default `false`. */
  readonly isSecret?: boolean
  /** What is typed narrows the options, of which there are many; no key picks one. Default `false`. */
  readonly isSearch?: boolean
  /** The option that is marked at first. Default: the first. */
  readonly first?: number
  /** Whether Space marks several of the options, which Enter takes together. Default `false`. */
  readonly isSeveral?: boolean
}

/** What was answered; `none` after Escape, an interrupt or an abort. */
export type PickAnswer =
  | { readonly type: 'option'; readonly index: number }
  /** At least one of them, in their order; only where several may be taken. */
  | { readonly type: 'several'; readonly indexes: readonly number[] }
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'none' }

/** A question being answered. `at` counts the options shown; the row after the last is the free text. */
export interface PickerState {
  readonly request: PickRequest
  readonly at: number
  readonly editor: EditorState
  /** The options that fit what was typed, by their place among all. */
  readonly shown: readonly number[]
  /** Options that Enter takes together. */
  readonly marked: ReadonlySet<number>
}

/** A question nobody has touched yet. */
export function createPicker(request: PickRequest): PickerState {
  const shown = request.options.map((_, index) => index)
  return { request, at: request.first ?? 0, editor: createEditorState(), shown, marked: new Set() }
}

/** Whether text is being typed rather than an option marked. */
export function isTyping({ request, at }: PickerState): boolean {
  return request.isSearch === true || at >= request.options.length
}

/** Takes one input: the next state, or the answer. The same state comes back for an input that means nothing to the question. */
export function pressPicker(state: PickerState, input: KeyInput): PickerState | PickAnswer {
  const { options, freeText } = state.request
  const rows = options.length + (freeText ? 1 : 0)
  const key = input.type === 'key' ? input.key : ''
  if (key === 'escape' || key === 'ctrl+c' || key === 'ctrl+d') return { type: 'none' }
  if (state.request.isSearch) return search(state, input, key)
  if (key === 'up' || key === 'shift+tab') return { ...state, at: (state.at + rows - 1) % rows }
  if (key === 'down' || key === 'tab') return { ...state, at: (state.at + 1) % rows }
  if (isTyping(state)) return typeInto(state, input)
  if (key === 'enter') return taken(state)
  if (state.request.isSeveral && input.type === 'text' && input.text === ' ') return marking(state)
  if (input.type === 'text') {
    const index = shortcut(options, input.text)
    if (index >= 0) return options[index]!.needsEnter ? { ...state, at: index } : { type: 'option', index }
  }
  return freeText && input.type !== 'key' ? typeInto({ ...state, at: options.length }, input) : state
}

function taken({ at, marked }: PickerState): PickAnswer {
  if (marked.size === 0) return { type: 'option', index: at }
  return { type: 'several', indexes: [...marked].sort((one, other) => one - other) }
}

function marking(state: PickerState): PickerState {
  const marked = new Set(state.marked)
  if (!marked.delete(state.at)) marked.add(state.at)
  return { ...state, marked }
}

const PAGE = 8
const STEPS: Readonly<Record<string, number>> = {
  ...{ up: -1, 'shift+tab': -1, 'ctrl+p': -1, 'ctrl+s': -1, pageup: -PAGE },
  ...{ down: 1, tab: 1, 'ctrl+n': 1, 'ctrl+r': 1, pagedown: PAGE },
}

function search(state: PickerState, input: KeyInput, key: string): PickerState | PickAnswer {
  const { request, shown, at } = state
  if (key === 'enter') return shown.length === 0 ? state : { type: 'option', index: shown[at]! }
  const step = STEPS[key]
  if (step !== undefined) return { ...state, at: Math.max(0, Math.min(shown.length - 1, at + step)) }
  const { state: editor } = press(state.editor, input)
  return { ...state, editor, at: 0, shown: fitting(request.options, editor.text) }
}

/** The options with all of these words somewhere, in whatever case. */
function fitting(options: readonly PickOption[], text: string): readonly number[] {
  const words = text.toLowerCase().split(/\s+/)
  return options.flatMap(({ label }, index) => {
    const known = label.toLowerCase()
    return words.every((word) => known.includes(word)) ? [index] : []
  })
}

function typeInto(state: PickerState, input: KeyInput): PickerState | PickAnswer {
  const step = press(state.editor, input)
  if (step.effect.type === 'submit') return { type: 'text', text: step.effect.text }
  return { ...state, editor: step.state }
}

function shortcut(options: readonly PickOption[], text: string): number {
  const letter = options.findIndex(({ key }) => key !== undefined && key === text.toLowerCase())
  return letter >= 0 ? letter : /^[1-9]$/.test(text) && Number(text) <= options.length ? Number(text) - 1 : -1
}
