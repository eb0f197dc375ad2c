import type { HermesConfig } from '@hermes/config'
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
      timeoutMs: toMs(entry.request_timeout_seconds),
      stallTimeoutMs: toMs(entry.stale_timeout_seconds),
    },
  ])
  return {
    configured: { provider: model.provider, model: model.default, baseUrl: model.base_url, apiKey: model.api_key },
    endpoints: Object.fromEntries(endpoints),
  }
}

function toMs(seconds: number | undefined): number | undefined {
  return seconds === undefined ? undefined : seconds * 1000
}
