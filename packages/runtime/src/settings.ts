import type { HermesConfig } from '@hermes/config'
import type { WireApi } from '@hermes/contracts/model'
import { defaultToolSettings, type ToolSettings } from '@hermes/tools'
import type { ConfiguredEndpoint, ModelWishes } from './model-choice.js'

/** The limits of tools as config.yaml sets them. */
export function toolSettings(config: HermesConfig): ToolSettings {
  return {
    ...defaultToolSettings,
    fileReadMaxChars: config.file_read_max_chars,
    maxLines: config.tool_output.max_lines,
    maxLineLength: config.tool_output.max_line_length,
    outputMaxBytes: config.tool_output.max_bytes,
    terminalTimeoutMs: config.terminal.timeout * 1000,
  }
}

/** What config.yaml says about models, in the terms of a choice. */
export function configuredModels(config: HermesConfig): Pick<ModelWishes, 'configured' | 'endpoints'> {
  const { model, providers } = config
  const endpoints = Object.entries(providers).map(([name, entry]): [string, ConfiguredEndpoint] => [
    name,
    {
      baseUrl: entry.base_url,
      apiKey: entry.api_key,
      keyEnv: entry.key_env,
      model: entry.model,
      api: toApi(entry.api_mode),
      timeoutMs: toMs(entry.request_timeout_seconds),
      stallTimeoutMs: toMs(entry.stale_timeout_seconds),
    },
  ])
  return {
    configured: {
      provider: model.provider,
      model: model.default,
      baseUrl: model.base_url,
      apiKey: model.api_key,
      api: toApi(model.api_mode),
    },
    endpoints: Object.fromEntries(endpoints),
  }
}

const API_MODES: Readonly<Record<string, WireApi>> = {
  chat_completions: 'chat-completions',
  anthropic_messages: 'anthropic-messages',
  bedrock_converse: 'bedrock-converse',
  codex_responses: 'responses',
}

/** Another word is taken for none: the wire is then judged by the address. */
function toApi(mode: string | undefined): WireApi | undefined {
  return mode === undefined ? undefined : API_MODES[mode]
}

function toMs(seconds: number | undefined): number | undefined {
  return seconds === undefined ? undefined : seconds * 1000
}
