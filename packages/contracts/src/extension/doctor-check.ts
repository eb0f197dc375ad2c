/** One thing that `hermes doctor` looked at. The text of what is not ok says what to do. */
export interface Finding {
  /** `warn`: it works, but not as it should. */
  readonly level: 'ok' | 'warn' | 'fail'
  /** One line. */
  readonly text: string
}

/** Something that `hermes doctor` looks at. */
export interface DoctorCheck {
  readonly name: string
  /** Rejects for what could not be looked at, which is shown as a failure. It has 30 seconds. */
  run(options: DoctorOptions): readonly Finding[] | Promise<readonly Finding[]>
}

/** How `hermes doctor` was called. */
export interface DoctorOptions {
  /** Whether servers may not be asked. */
  readonly isOffline: boolean
  readonly signal: AbortSignal
}
