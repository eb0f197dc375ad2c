import type { ModelPrices } from '../usage.js'

/** Where something known about a model comes from, strongest first. */
export type FactSource = 'config' | 'learned' | 'endpoint' | 'models.dev' | 'genai-prices' | 'family' | 'default'

/** A value and who says so. */
export interface Sourced<T> {
  readonly value: T
  readonly source: FactSource
}

/** What a model can do; what is not known is left out. */
export interface ModelAbilities {
  readonly tools?: boolean
  readonly vision?: boolean
  readonly audio?: boolean
  /** Files other than images, such as a PDF. */
  readonly files?: boolean
  readonly reasoning?: boolean
}

/** Prices with who says so, and as of which day (`YYYY-MM-DD`; `null` where the user says). */
interface SourcedPrices extends Sourced<ModelPrices> {
  readonly asOf: string | null
}

/** What is known about one model at one endpoint. */
export interface ModelFacts {
  readonly model: string
  /** Tokens of the whole window. */
  readonly contextLength: Sourced<number>
  /** Tokens of one answer; `null` when nobody says. */
  readonly maxOutputTokens: Sourced<number> | null
  /** `null` when nobody says. */
  readonly prices: SourcedPrices | null
  readonly abilities: ModelAbilities
}

/** What one source knows. */
export interface PartialFacts {
  readonly contextLength?: number | undefined
  readonly maxOutputTokens?: number | undefined
  readonly prices?: ModelPrices | undefined
  readonly abilities?: ModelAbilities | undefined
}

/** Which model is meant, and where. */
export interface RequestedModel {
  /** An id of the provider catalogue. */
  readonly provider: string
  readonly baseUrl: string
  readonly model: string
  /** Tokens, where the configuration says. */
  readonly contextLength?: number | undefined
}

/** Taken when nobody knows anything. */
export const DEFAULT_CONTEXT_LENGTH = 256_000

/** Taken at most for a server on the own machine that does not say what it has loaded: seldom is it all that the model was trained for. */
export const DEFAULT_LOCAL_CONTEXT_LENGTH = 32_768

/** `value` when it is a finite number above zero. */
export function positive(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) && value > 0 ? value : undefined
}

/** `value` when it is a finite number, zero included. */
export function amount(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : undefined
}
