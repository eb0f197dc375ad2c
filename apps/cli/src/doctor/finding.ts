/** One thing that was looked at. The text of what is not ok says what to do. */
export interface Finding {
  readonly level: 'ok' | 'warn' | 'fail'
  readonly text: string
}

/** What is fine. */
export const ok = (text: string): Finding => ({ level: 'ok', text })
/** What works, but not as it should. */
export const warn = (text: string): Finding => ({ level: 'warn', text })
/** What does not work. */
export const fail = (text: string): Finding => ({ level: 'fail', text })
