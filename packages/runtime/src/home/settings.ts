import { join, resolve } from 'node:path'
import type { HermesConfig } from '@hermes/config'
import type { JsonObject } from '@hermes/contracts'
import type { DisclosureOptions } from '@hermes/registry'
import { CORE_TOOLSETS, platformToolset } from '@hermes/registry'
import type { ToolSettings } from '@hermes/tools'
import { defaultToolSettings } from '@hermes/tools'
import type { OwnPlatform } from '../chats/own-platform.js'
import type { ModelChoiceOptions } from '../models/model-choice.js'
import { namedEndpoints, toApi, toHeaders } from '../models/named-endpoints.js'

/** The limits of tools as config.yaml sets them. */
export function toolSettings(config: HermesConfig): ToolSettings {
  return {
    ...defaultToolSettings,
    fileReadMaxChars: config.file_read_max_chars,
    maxLines: config.tool_output.max_lines,
    maxLineLength: config.tool_output.max_line_length,
    outputMaxBytes: config.tool_output.max_bytes,
    terminalTimeoutMs: config.terminal.timeout * 1000,
    lint: config.lint.enabled,
    lintTimeoutMs: config.lint.timeout * 1000,
  }
}

const NOMINAL_WINDOW_TOKENS = 200_000

/** When tools are hidden behind `tool_search`. */
export function disclosureOf({ tools }: Pick<HermesConfig, 'tools'>): DisclosureOptions {
  const { enabled, threshold_pct, always } = tools.tool_search
  return {
    mode: enabled,
    budgetTokens: (NOMINAL_WINDOW_TOKENS * threshold_pct) / 100,
    core: CORE_TOOLSETS,
    always,
  }
}

/** The toolset of a chat platform that has none of its own. */
const ANY_CHAT = 'hermes-gateway'

/** Where sessions speak unless it is said. */
export const DEFAULT_PLATFORM = 'cli'

/** The toolsets that config.yaml gives a surface. `chat`: a chat platform that an extension brings. */
export function toolsetsOf(
  config: Pick<HermesConfig, 'toolsets' | 'platform_toolsets'>,
  platform: string,
  chat?: Pick<OwnPlatform, 'toolsets'>,
): readonly string[] {
  const configured = config.platform_toolsets as Readonly<Record<string, readonly string[] | undefined>>
  const own = chat ? chat.toolsets : configured[platform]
  const usual = chat ? ANY_CHAT : platformToolset(platform)
  return own ?? config.toolsets.map((name) => (name === 'hermes-cli' ? usual : name))
}

/** What config.yaml says about models, in the terms of a choice. */
export function configuredModels(
  config: HermesConfig,
): Pick<ModelChoiceOptions, 'configured' | 'endpoints' | 'aliases' | 'bedrock'> {
  const { model, bedrock } = config
  return {
    configured: {
      provider: model.provider,
      model: model.default,
      baseUrl: model.base_url,
      apiKey: model.api_key,
      keyEnv: model.key_env,
      api: toApi(model.api_mode),
      contextLength: model.context_length,
      headers: toHeaders(model.extra_headers),
    },
    endpoints: namedEndpoints(config),
    aliases: Object.fromEntries(
      Object.entries(config.model_aliases).map(([name, alias]) => [
        name,
        { model: alias.model, provider: alias.provider, baseUrl: alias.base_url, keyEnv: alias.key_env },
      ]),
    ),
    bedrock: { region: bedrock.region || undefined, body: guardrailBody(bedrock.guardrail) },
  }
}

function guardrailBody(guardrail: HermesConfig['bedrock']['guardrail']): JsonObject | undefined {
  const { identifier, version, stream_processing_mode: streamProcessingMode, trace } = guardrail
  if (!identifier || !version) return undefined
  return {
    guardrailConfig: { guardrailIdentifier: identifier, guardrailVersion: version, trace, streamProcessingMode },
  }
}

/** `text` as a path of this machine. */
export function toPath(text: string, userHome: string, cwd: string): string {
  return text === '~' || text.startsWith('~/') ? join(userHome, text.slice(1)) : resolve(cwd, text)
}
