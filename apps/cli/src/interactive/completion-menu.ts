import {
  applyCompletion,
  type Candidate,
  type Completion,
  type CompletionSources,
  commonBeginning,
  findCompletion,
  wordBefore,
} from '../editor/completion.js'
import type { EditorState } from '../editor/editor.js'
import type { KeyInput } from '../editor/keys.js'

/** Candidates on the screen; `at` is the one that Tab takes, `null` for the first without Enter taking it. */
export interface ShownMenu {
  readonly completion: Completion
  readonly at: number | null
}

/** What a key did to the menu: it took a candidate into the line, perhaps to be sent, or it was for the menu alone. */
type MenuStep =
  | { readonly type: 'line'; readonly state: EditorState; readonly isSent: boolean }
  | { readonly type: 'moved' }

const MORE_AFTER_MS = 120
const EDITING = new Set([
  'backspace',
  'shift+backspace',
  'ctrl+h',
  'delete',
  'ctrl+w',
  'alt+backspace',
  'ctrl+backspace',
])

/** What the word being typed may become: opens by itself for commands, references and skills, and with Tab for paths. */
export class CompletionMenu {
  readonly #sources: CompletionSources
  readonly #changed: (state: EditorState | null) => void
  #shown: ShownMenu | null = null
  /** The line that was looked at last; what is found for another one is of no use. */
  #line: EditorState | null = null
  #hasMoved = false
  /** Where the word begins for which the person closed the menu. */
  #closedAt: number | null = null
  #more: NodeJS.Timeout | null = null

  /** `changed` draws, with the line where Tab has completed it. Must not throw. */
  constructor(sources: CompletionSources, changed: (state: EditorState | null) => void) {
    this.#sources = sources
    this.#changed = changed
  }

  get shown(): ShownMenu | null {
    return this.#shown
  }

  /** What a key means while candidates are shown; `null` when it is for the line. */
  press(state: EditorState, input: KeyInput): MenuStep | null {
    const shown = this.#shown
    if (!shown || this.#line !== state || input.type !== 'key') return null
    const { candidates } = shown.completion
    switch (input.key) {
      case 'escape':
        this.#closedAt = shown.completion.start
        this.#hide()
        return { type: 'moved' }
      case 'up':
      case 'ctrl+p':
      case 'shift+tab':
        return this.#move(shown, (shown.at ?? 0) + candidates.length - 1)
      case 'down':
      case 'ctrl+n':
        return this.#move(shown, shown.at === null ? 0 : shown.at + 1)
      case 'tab':
        return { type: 'line', state: take(state, shown, candidates[shown.at ?? 0]!), isSent: false }
      case 'enter':
        return this.#enter(state, shown)
      default:
        return null
    }
  }

  /** Looks for candidates after a key; a line that the key did not edit has none. */
  follow(before: EditorState, state: EditorState, input: KeyInput): void {
    const isEdit = input.type === 'text' || (input.type === 'key' && EDITING.has(input.key))
    if (!isEdit || before === state) this.close()
    else this.open(state)
  }

  /** Shows what the word at the cursor may become, where it is a command, a reference or a skill. */
  open(state: EditorState): void {
    const before = state.text.slice(0, state.cursor)
    const word = wordBefore(before)
    const start = state.cursor - word.length
    const opens = /^[@$]/.test(word) || (before.trimStart().startsWith('/') && !before.includes('\n'))
    if (this.#closedAt !== start) this.#closedAt = null
    if (opens && this.#closedAt === null) void this.#look(state, { paths: false })
    else this.close()
  }

  /** Tab without candidates: completes as far as there is no choice, and shows the choice. */
  async complete(state: EditorState): Promise<void> {
    const completion = await this.#look(state, { paths: true })
    if (!completion || completion.candidates.length === 0) return
    const word = state.text.slice(completion.start, completion.end)
    const common = commonBeginning(completion.candidates)
    const text = common.startsWith(word)
      ? common
      : completion.candidates.length === 1
        ? completion.candidates[0]!.text
        : word
    const next = applyCompletion(state, completion, text)
    if (completion.candidates.length === 1) this.#hide()
    else {
      this.#line = next
      this.#shown = { completion: { ...completion, end: completion.start + text.length }, at: this.#shown?.at ?? null }
    }
    this.#changed(next)
  }

  close(): void {
    this.#line = null
    this.#hide()
  }

  #hide(): void {
    this.#shown = null
    this.#hasMoved = false
    if (this.#more) clearTimeout(this.#more)
    this.#more = null
  }

  #move(shown: ShownMenu, to: number): MenuStep {
    this.#hasMoved = true
    this.#shown = { ...shown, at: to % shown.completion.candidates.length }
    return { type: 'moved' }
  }

  /** A word that is whole already is sent as it stands, and so is an argument or a skill that nobody chose: `$5` is money. */
  #enter(state: EditorState, shown: ShownMenu): MenuStep | null {
    const { completion, at } = shown
    const word = state.text.slice(completion.start, completion.end)
    const isWhole = completion.candidates.some(({ text }) => text.trimEnd() === word)
    if (at === null || (!this.#hasMoved && (isWhole || completion.type === 'argument' || completion.type === 'skill')))
      return null
    const candidate = completion.candidates[at]!
    return { type: 'line', state: take(state, shown, candidate), isSent: candidate.isWhole ?? false }
  }

  async #look(state: EditorState, options: { readonly paths: boolean }): Promise<Completion | null> {
    const isSameWord = this.#shown !== null && this.#line === state
    this.#line = state
    const found = await findCompletion(state, this.#sources, options).catch(() => null)
    if (this.#line !== state) return null
    const marked = isSameWord && this.#hasMoved ? this.#markedIn(found) : null
    if (marked === null) this.#hide()
    if (found && found.candidates.length > 0)
      this.#shown = { completion: found, at: marked ?? (found.isSure ? 0 : null) }
    if (found?.isPartial) this.#more = setTimeout(() => void this.#look(state, options), MORE_AFTER_MS)
    this.#changed(null)
    return found
  }

  /** The candidate the person went to, in a list that has grown. */
  #markedIn(found: Completion | null): number | null {
    const text = this.#shown?.completion.candidates[this.#shown.at ?? 0]?.text
    const at = found?.candidates.findIndex((candidate) => candidate.text === text) ?? -1
    return at < 0 ? null : at
  }
}

function take(state: EditorState, { completion }: ShownMenu, { text }: Candidate): EditorState {
  return applyCompletion(state, completion, text)
}
