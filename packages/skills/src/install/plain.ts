import { visibleText } from '@hermes/safety'

/** Whether a path that others chose may stand in a command that people copy: no shell takes any of it for more than a word. */
export const isPlain = (path: string) => /^[\w./-]+$/.test(path)

/** A path that others chose, for a list that people read: it cannot look like another line or entry. */
export const shownPath = (path: string) => (isPlain(path) ? path : visibleText(JSON.stringify(path)))
