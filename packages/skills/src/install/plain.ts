import { visibleText } from '@hermes/safety'

/** Whether a path that others chose may stand in a command that people copy: no shell takes any of it for more than a word. */
export const isPlain = (path: string) => /^[\w./-]+$/.test(path)

/** A path that others chose, for a list that people read: it cannot look like another line or entry. */
export const shownPath = (path: string) => (isPlain(path) ? path : visibleText(JSON.stringify(path)))

const DEVICE = /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/i
/** What some system takes for a separator or a stream, does not keep, or shows in another order. */
const ODD = /[\\:*?"<>|\p{Cc}\p{Cf}\u2028\u2029]|[. ]$/u

/** Whether a part of a path names the same file on every system, and is shown as it is. */
export const isPortable = (part: string): boolean => !ODD.test(part) && !DEVICE.test(part)
