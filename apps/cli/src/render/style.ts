import type { Output } from '../io.js'

/** Colours, or nothing where they are not wanted. */
export interface Style {
  dim(text: string): string
  bold(text: string): string
  red(text: string): string
  green(text: string): string
  yellow(text: string): string
  cyan(text: string): string
}

const paint = (open: number, close: number) => (text: string) => `\u001B[${open}m${text}\u001B[${close}m`
const plain = (text: string) => text

/** Styles for `output`: plain when it is not a terminal or `NO_COLOR` is set. */
export function createStyle(output: Pick<Output, 'colors'>): Style {
  if (!output.colors) return { dim: plain, bold: plain, red: plain, green: plain, yellow: plain, cyan: plain }
  return {
    dim: paint(2, 22),
    bold: paint(1, 22),
    red: paint(31, 39),
    green: paint(32, 39),
    yellow: paint(33, 39),
    cyan: paint(36, 39),
  }
}

/** `text` on one line and at most `columns` wide. */
export function clip(text: string, columns: number): string {
  const line = text
    .replace(/\s*\n\s*/g, ' ')
    .replaceAll('\t', '  ')
    .trimEnd()
  return line.length <= columns ? line : `${line.slice(0, Math.max(columns - 1, 0)).toWellFormed()}…`
}

/** A duration for people: `340 ms`, `2.1 s`, `3 min 5 s`. */
export function formatDuration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`
  const seconds = ms / 1000
  if (seconds < 60) return `${seconds.toFixed(1)} s`
  return `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`
}
