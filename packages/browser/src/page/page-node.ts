/** One line of a page: something to act on, or text. */
export interface PageNode {
  /** `e12`, where it can be acted on. */
  readonly ref?: string
  readonly role: string
  readonly name: string
  /** What a field holds; of a password only that there is one. */
  readonly value?: string
  /** `checked`, `disabled`, `expanded` … */
  readonly states?: readonly string[]
  /** Labels of a list of choices, the first ones. */
  readonly options?: readonly string[]
  readonly inView: boolean
  /** Which run of rows alike it is part of, and which row. */
  readonly row?: readonly [group: number, index: number]
  /** Of a frame: its element in the page is the `frame`-th of them. */
  readonly frame?: number
}

/** What the script of a page finds. */
export interface Found {
  readonly nodes: readonly PageNode[]
  /** The first number that no element has. */
  readonly next: number
  readonly title: string
  readonly url: string
  readonly scroll: { readonly y: number; readonly height: number; readonly viewport: number }
  readonly isCut: boolean
  /** What the browser took the document for, such as `text/html`. */
  readonly contentType: string
}

/** Where to click, or why not. */
export type Located =
  | { readonly type: 'at'; readonly x: number; readonly y: number; readonly tag: string; readonly inputType: string }
  | { readonly type: 'gone' | 'hidden' | 'disabled' | 'moving' }
  | { readonly type: 'covered'; readonly by: string }

/** What became of a field that was to be written to. */
export type Focused =
  | { readonly type: 'text' }
  | { readonly type: 'set'; readonly value: string }
  | { readonly type: 'gone' | 'hidden' | 'disabled' | 'no-field' }

/** What became of a choice. */
export type Chosen =
  | { readonly type: 'chosen'; readonly labels: readonly string[] }
  | { readonly type: 'unknown'; readonly options: readonly string[] }
  | { readonly type: 'gone' | 'disabled' | 'no-list' }

/** What became of a field that was to be filled with what no model sees. */
export type Filled =
  | { readonly type: 'filled' }
  | { readonly type: 'elsewhere'; readonly origin: string }
  | { readonly type: 'gone' | 'hidden' | 'disabled' | 'no-field' | 'no-password' }

/** What stands in the isolated world of each document. */
export interface PageScript {
  collect(options: { readonly start: number; readonly scope?: string; readonly max: number }): Found
  locate(ref: string): Promise<Located>
  focus(ref: string, options: { readonly value: string }): Focused
  /** Puts a value into a field of a document of `origin`, in one step: nothing of the page runs between looking and writing. */
  fill(ref: string, options: { readonly origin: string; readonly value: string; readonly isPassword: boolean }): Filled
  choose(ref: string, options: { readonly values: readonly string[] }): Chosen
  scroll(options: {
    readonly ref?: string
    readonly by: number
  }): { readonly y: number; readonly height: number } | null
  images(options: { readonly max: number }): readonly {
    readonly src: string
    readonly alt: string
    readonly width: number
    readonly height: number
  }[]
  frameAt(index: number): unknown
  /** Where the content of a frame begins in the document around it. */
  frameBox(ref: string): { readonly x: number; readonly y: number } | null
  /** What tells this document from those before and after it in its frame. */
  documentId(): number
  /** Where links, forms and pictures of the document lead. */
  addresses(options: { readonly max: number }): readonly string[]
  /** Whether the whole document was read. */
  isReady(): boolean
  shows(options: { readonly text: string }): boolean
  /** Of the document itself; `null` as text where it has none. */
  origin(): string
  /** Draws the references of what is in the window beside it, and gives them. */
  label(): readonly string[]
  unlabel(): void
}
