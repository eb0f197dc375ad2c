/**
 * Text for the system text of new sessions, in the one slot that extensions share: after skills, before the project's instructions. All
 * sections together have 2,000 bytes unless `agent.extension_prompt_bytes` of config.yaml says otherwise.
 */
export interface PromptSection {
  readonly name: string
  /** Lower ones come first; of the same order the one that was registered first. Default 0. */
  readonly order?: number
  /** What does not fit is cut at the end of a character. Default: what is left of the slot. */
  readonly maxBytes?: number
  /**
   * The text; nothing for none. Called once for each session, before its first request: it holds that request up. What throws is told to the
   * person and left out.
   */
  render(session: PromptSectionContext): string | undefined | Promise<string | undefined>
}

/** The session that a prompt section is for. */
export interface PromptSectionContext {
  /** `cli`, `oneshot`, `acp`, `gateway` …; `null` for a child, which speaks to no person. */
  readonly platform: string | null
  /** Where it works. Absolute. */
  readonly cwd: string
  /** Model id. */
  readonly model: string
}
