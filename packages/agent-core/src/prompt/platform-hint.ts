/** How an agent speaks on a platform, as config.yaml has it: more than what is built in, or something else. */
export interface PlatformHint {
  readonly append?: string
  readonly replace?: string
  /** What is said there where nothing is built in: an extension brings the platform. */
  readonly usual?: string
}

const PLATFORMS: Readonly<Record<string, string>> = {
  cli: `You speak through a terminal: plain text, short lines, no Markdown tables or headings. Name files by their path.`,
  oneshot: `You run once, unattended: nobody can answer questions. Choose sensible defaults and finish. Your last message is the only output: plain text.`,
  acp: `You speak through an editor that shows Markdown. Name places in files as path:line.`,
  cron: `You run on a schedule, unattended: nobody can answer questions. Choose sensible defaults and finish. Your last message is delivered as it is: put the result first.`,
  telegram: `You speak in a Telegram chat: short messages, Markdown without tables. A line MEDIA:/absolute/path sends that file.`,
  email: `You speak by email: plain text, whole answers. A line MEDIA:/absolute/path attaches that file.`,
}

/** How an agent speaks on a platform; no text where there is nothing to say. */
export function platformHint(platform: string, { append, replace, usual }: PlatformHint = {}): string {
  return [replace ?? PLATFORMS[platform] ?? usual, append].filter(Boolean).join('\n')
}
