import type { PlatformHint } from '@hermes/agent-core'
import type { PlatformSettings } from '@hermes/config'
import type { ChatPlatform } from '@hermes/contracts/extension'

/** A chat platform that an extension brings, and what config.yaml says of it. */
export interface OwnPlatform extends ChatPlatform {
  readonly name: string
  readonly settings: PlatformSettings
  /** For `platform_hints`, with its own hint. */
  readonly hints: PlatformHint
  /** `undefined`: those of all chats. */
  readonly toolsets: readonly string[] | undefined
}
